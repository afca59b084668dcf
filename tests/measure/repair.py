"""A repair loop: ``python -m tests.measure.repair --references 100``.

Real problems, plans for them and their domains are damaged as models damage them (``DAMAGES``). A scripted model sees
its own answer and what ``feedback`` says of it, without a reference and in the domain of the prompt, and does what the
advice says, word by word: nothing else. The table says how many answers have no error left, and how many are right
against the reference that nobody showed, after each round.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pddl_eval
import polars as pl
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.scoring.findings import Issue

from tests.support.plan_text import plan_to_pddl
from tests.support.sample import DOMAIN_TEXTS
from tests.support.shared_problems import SHARED_PROBLEMS

ROUNDS = 2

Damage = Callable[[str, Random], str]


def main() -> None:
    """Print, for each kind of answer and of damage, what each round repairs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--references", type=int, default=100, help="of each domain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=Path, default=SHARED_PROBLEMS)
    parser.add_argument("--show", action="store_true", help="print what is left after the last round")
    arguments = parser.parse_args()
    valid: Counter[tuple[str, str, int]] = Counter()
    right: Counter[tuple[str, str, int]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for kind, name, answer, reference, known in damaged_answers(
        arguments.problems, arguments.references, arguments.seed
    ):
        total[kind, name] += 1
        for number in range(ROUNDS + 1):
            found = pddl_eval.feedback(answer, kind=kind, **known)
            valid[kind, name, number] += found.ok is True
            right[kind, name, number] += pddl_eval.reward(answer, reference, kind=kind, **known) == 1
            if number == ROUNDS and not found.ok and arguments.show:
                print(f"{answer}\n{found.text}\n")
            if not found.ok:
                answer = repaired(answer, found.issues, kind)
    print("kind, damage: answers; without error (right) as damaged, after one round, after two")
    for kind, name in [*total, *((kind, "") for kind in dict.fromkeys(kind for kind, _ in total))]:
        some = [key for key in total if key[0] == kind and name in ("", key[1])]
        shares = [
            f"{sum(valid[*key, number] for key in some)} ({sum(right[*key, number] for key in some)})"
            for number in range(ROUNDS + 1)
        ]
        print(f"{kind}, {name or 'all'}: {sum(total[key] for key in some)}; {', '.join(shares)}")


def damaged_answers(file: Path, count: int, seed: int) -> Iterator[tuple[str, str, str, str, dict[str, Any]]]:
    """Kind, damage, answer, reference, and what the prompt says; an answer that is still valid is left out."""
    random = Random(seed)
    for domain, text in DOMAIN_TEXTS.items():
        found = pl.scan_parquet(file).filter(pl.col("domain") == domain).collect()
        for problem in found.sample(min(found.height, count), seed=seed)["problem_pddl"]:
            parsed = parse_problem(problem)
            solution = solve(parsed, known_domain(domain))
            if not isinstance(solution, Solution):
                continue
            originals = {
                "problem": (problem_to_pddl(parsed), problem, {"domain": domain}),
                "plan": (plan_to_pddl(solution.plan), plan_to_pddl(solution.plan), {"problem": problem}),
                "domain": (domain_to_pddl(parse_domain(text)), text, {}),
            }
            for kind, (original, reference, known) in originals.items():
                name = random.choice(list(DAMAGES[kind]))
                answer = DAMAGES[kind][name](original, random)
                if answer != original and pddl_eval.feedback(answer, kind=kind, **known).ok is False:
                    yield kind, name, answer, reference, known


# Damage


def without_one(mark: str) -> Damage:
    """Some occurrence of a text is missing."""

    def damage(text: str, random: Random) -> str:
        places = [found.start() for found in re.finditer(re.escape(mark), text)]
        place = random.choice(places) if places else len(text)
        return text[:place] + text[place + len(mark) :]

    return damage


def misspelt(pattern: str) -> Damage:
    """A letter of some word is missing."""

    def damage(text: str, random: Random) -> str:
        words = [found for found in re.finditer(pattern, text) if len(found[1]) > 2]
        if not words:
            return text
        start, end = random.choice(words).span(1)
        place = random.randrange(start + 1, end)
        return text[:place] + text[place + 1 :]

    return damage


def a_line(change: Callable[[list[str], int], list[str]]) -> Damage:
    """Something happens to some line."""

    def damage(text: str, random: Random) -> str:
        lines = text.split("\n")
        return "\n".join(change(lines, random.randrange(len(lines))))

    return damage


ATOM = r"(?<=[ (])\(([a-z][a-z-]*)(?= [a-z0-9?])"
DAMAGES: dict[str, dict[str, Damage]] = {
    "problem": {
        "a parenthesis too few": without_one(")"),
        "a parenthesis too many": lambda text, _: text.replace("\n  (:goal", ")\n  (:goal"),
        "cut off": lambda text, random: text.rstrip(")\n ") + ")" * random.randrange(3),
        "a misspelt predicate": misspelt(ATOM),
        "a misspelt domain": misspelt(r"\(:domain ([a-z-]+)"),
        "an object that is not declared": lambda text, _: re.sub(r"(\(:objects) \S+", r"\1", text, count=1),
        "an argument too many": lambda text, _: re.sub(
            r"(\(:goal \(and \([a-z-]+ [^()]*?(\S+))\)", r"\1 \2)", text, count=1
        ),
    },
    "plan": {
        "a missing step": a_line(lambda lines, at: lines[:at] + lines[at + 1 :]),
        "a repeated step": a_line(lambda lines, at: [*lines[: at + 1], *lines[at:]]),
        "the last step cut off": lambda text, _: text[:-1],
        "a misspelt action": misspelt(r"(?m)^\(([a-z][a-z-]+)"),
        "a misspelt object": misspelt(r" ([a-z][a-z_]*[a-z0-9]{2,})"),
        "an argument too few": a_line(
            lambda lines, at: [*lines[:at], re.sub(r" [^ )]+\)", ")", lines[at]), *lines[at + 1 :]]
        ),
    },
    "domain": {
        "a parenthesis too few": without_one(")"),
        "a misspelt predicate": misspelt(ATOM),
        "a misspelt variable": misspelt(r"(\?[a-z0-9]+)(?=[ )])"),
        "an argument too many": lambda text, _: re.sub(r"(\(and \([a-z-]+ (\?\S+?))(?=[ )])", r"\1 \2", text, count=1),
    },
}


# The scripted model


def repaired(answer: str, issues: tuple[Issue, ...], kind: str) -> str:
    """The answer after the advice was followed, the last place first so that the others stay where they are."""
    for issue in sorted(issues, key=lambda each: (each.line or 10**9, each.column or 0), reverse=True):
        if issue.severity == "error":
            answer = follow(answer, issue, kind)
    return answer


def follow(answer: str, issue: Issue, kind: str) -> str:  # noqa: C901 (one case an advice)
    """What one issue advises."""
    lines = answer.split("\n")
    at = sum(len(line) + 1 for line in lines[: (issue.line or 1) - 1]) + (issue.column or 1) - 1
    head, tail = answer[:at], answer[at:]
    nearest = re.findall(r"did you mean (\??[^ ?]+)\?", f"{issue.says} {issue.advice}")
    match issue.check:
        case "parentheses" if issue.advice.startswith("close"):
            return f"{head.rstrip()}){tail}"
        case "parentheses" if issue.advice.startswith("remove"):
            return head[: head.rindex(")")] + head[head.rindex(")") + 1 :] + tail
        case "parentheses":
            return answer + ")" * int(re.match(r"\d+", issue.says)[0])  # type: ignore[index]
        case "undeclared_object":
            name, type_ = re.findall(r"declare (\S+)( - \S+)? in", issue.advice)[0]
            uses = re.findall(rf"(?<=[ (]){re.escape(name)}(?=[ )])", answer)
            if nearest and len(uses) == 1:  # misspelt once
                return head + re.sub(rf"(?<=[ (]){re.escape(name)}(?=[ )])", nearest[0], tail, count=1)
            return answer.replace("(:objects", f"(:objects {name}{type_}", 1)
        case "undeclared_predicate" | "unknown_domain" | "domain_mismatch":
            new = nearest or re.findall(r"\(:domain ([^ )]+)\)", issue.advice)
            return head + re.sub(r"[\w-]+", new[0], tail, count=1) if new else answer
        case "wrong_number":
            takes = len(re.findall(r"\?x\d+", issue.advice))
            kept = issue.words.strip("()").split()[: takes + 1]
            return head + tail.replace(tail[: tail.index(")") + 1], f"({' '.join(kept)})", 1)
        case "unknown_action" | "not_executed" if nearest:
            return head + re.sub(r"\??[\w-]+", nearest[0], tail, count=1)
        case "wrong_arguments" if nearest:
            wrong = re.search(r"of (\S+): did you mean", issue.advice)
            return head + tail.replace(f" {wrong[1] if wrong else ''}", f" {nearest[0]}", 1)
        case "precondition" | "goal_not_reached":
            ground = re.findall(r"(\([^?()]+\)) (?:adds|deletes)", issue.advice)
            if issue.line is None or not ground:
                return f"{answer}\n{ground[0]}" if ground else answer
            return "\n".join([*lines[: issue.line - 1], ground[0], *lines[issue.line - 1 :]])
        case "unreadable" | "wrong_arguments" if kind == "plan" and issue.line:
            return "\n".join([*lines[: issue.line - 1], *lines[issue.line :]])
    return answer


if __name__ == "__main__":
    main()
