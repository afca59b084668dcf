"""Questions about tasks in any PDDL against the judge: ``python -m tests.measure.questions --count 20000 --seed 1``.

Draws small tasks of the judges' domains (STRIPS, negation, ADL, derived predicates, costs, numbers) and of random ones,
with prefixes from random walks, some of them damaged, and asks ``pddl_eval.judge_answer`` about right answers and
damaged ones: an element changed, left out, added; another index, another action; "none" where something is and the
other way round. Answers are written in several notations, some with prose around. ``tests.judges.questions``
enumerates all states. ``pddl_eval.right_answers`` is compared with its key. Prints the first disagreements in full and
a table, by kind of question, domain, damage, notation and number of reachable states, and exits with 1 on any
disagreement. ``--count`` is the number of answers of each kind; ``--kinds`` and ``--stories`` take names. ``--speed``
times recorded answers to questions about that many tasks instead, with the kernel and without.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from random import Random
from statistics import fmean
from typing import NamedTuple

import pddl_eval
import pyarrow as pa
from pddl_eval import kernel
from pddl_eval.benchmark import Asking
from pddl_eval.definition.kept import keeping
from pddl_eval.definition.metrics import read_answer as read_by_definition
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.kept import Kept

from tests.judges.domains import STORIES, Story, small
from tests.judges.interpreter import Atom, Refused, TooManyStates, Undefined, read
from tests.judges.plans import DAMAGES, goal, merge, problem_text, walk
from tests.judges.questions import KINDS, Answers, NoKey, Scene
from tests.judges.random_domains import Draw
from tests.measure.tally import Tally, drawing

STORIES = [*STORIES, *small.STORIES]

LIMIT = 150
"""States that the judge enumerates; of a task with more it answers what needs no enumeration."""

DRAWS = 5
"""Scenes that are drawn for one with few states."""

FROM_HERE = ("unreachable_atom", "unreachable_action", "landmark", "next_action")
"""They are about what can still happen."""

COLUMNS = ["asked", "right", "agree", "undecided", "judge silent", "no key", "wrong"]


class Question(NamedTuple):
    """A question about a task, as the judge and as the program have it."""

    number: int
    kind: str
    name: str
    domain: str
    problem: str
    plan: tuple[Atom, ...]
    scene: Scene
    atoms: list[Atom]
    actions: list[Atom]
    """All that declarations and types admit."""

    @property
    def pool(self) -> list[Atom]:
        """What may be picked."""
        return self.actions if self.kind.endswith("action") else self.atoms

    @property
    def plan_text(self) -> str:
        return "\n".join(map(pddl, self.plan))

    @property
    def shown(self) -> str:
        """Everything that is needed to ask it again."""
        return f"{self.number} {self.name}, {self.kind}\n{self.domain}\n{self.problem}\nplan: {self.plan_text}"


# --- Drawing ---------------------------------------------------------------------------------------------------------


def questions(number: int, seed: int, kinds: Sequence[str], stories: Sequence[str]) -> Iterator[Question]:
    """Questions of all kinds about a task: after nothing or a walk to the goal, a part of it and a damaged copy."""
    random = Random(f"{seed} {number} questions")
    name, domain, problem, steps = task(
        random, number, [each for each in STORIES if {each.name, each.kind} & {*stories}]
    )
    scene = Scene(domain, problem, LIMIT)
    damage = random.choice([each for each in DAMAGES.values() if each is not merge])
    atoms, actions = list(scene.all_atoms()), list(scene.every_action())
    plans = [steps, steps[: random.randint(0, len(steps))], tuple(damage(random, scene.task, list(steps)))]
    for kind in kinds:
        for plan in [(), *plans[1:]] if kind in FROM_HERE else plans:
            known = [step for step in plan if step[0] in scene.task.actions]  # Else the text is read as no plan.
            if (known or not plan) and (plan or kind != "trace"):
                yield Question(number, kind, name, domain, problem, plan, scene, atoms, actions)


def task(random: Random, number: int, stories: Sequence[Story]) -> tuple[str, str, str, tuple[Atom, ...]]:
    """The name of a domain, its text, a problem and the plan of a walk, which mostly reaches the goal."""
    if not stories and number % 8 == 7:
        draw = Draw(random)
        domain, problem = draw.domain(), draw.problem()
        return "drawn", domain, problem, walk(random, read(domain, problem))[0]
    story = (stories or STORIES)[number % len(stories or STORIES)]
    for _ in range(DRAWS):
        scene = story.scene(random)
        drawn = Scene(story.text, problem_text(story, scene, "(and)"), LIMIT)
        if size(drawn) != "more":
            break
    steps, last = walk(random, drawn.task)
    wanted = goal(random, story, drawn.task, last, random.random() < 0.9)
    return story.name, story.text, problem_text(story, scene, wanted), steps


def size(scene: Scene) -> str:
    """The number of reachable states, in words."""
    with suppress(TooManyStates, Refused):
        count = len(scene.states)
        return next(f"up to {most}" for most in (10, 100, LIMIT) if count <= most)
    return "more"


# --- Answers ---------------------------------------------------------------------------------------------------------


Made = Iterator[tuple[str, Hashable]]
"""Other answers, each named by how it was made from a right one. The judge says whether it is right, too."""


def made(random: Random, question: Question, right: Hashable) -> Made:
    """Damaged copies of a right answer of a kind."""
    match question.kind:
        case "applicable":
            return set_damage(random, right, question.actions)
        case "state":
            return set_damage(random, right, question.atoms)
        case "progression":
            return progression_damage(random, question, right)
        case "trace":
            return trace_damage(random, question, right)
        case "executability":
            return executability_damage(random, question)
        case "validity":
            return validity_damage(random, question, right)
        case "justification":
            return plan_damage(random, question, right)
        case _:
            return pick_damage(random, question, right)


def set_damage(random: Random, right: frozenset[Atom], pool: Sequence[Atom]) -> Made:
    """One element left out, added, changed; none at all."""
    gone = random.choice(sorted(right)) if right else None
    more = random.choice(pool) if pool else None
    if gone:
        yield "left out", right - {gone}
        yield "an argument more", right - {gone} | {(*gone, gone[-1])}
        yield "unknown name", right - {gone} | {("polished", *gone[1:])}
    if more:
        yield "added", right | {more}
    if gone and more:
        yield "changed", right - {gone} | {more}
    yield "none", frozenset()


def progression_damage(random: Random, question: Question, right: tuple[frozenset[Atom], frozenset[Atom]]) -> Made:
    adds, deletes = right
    yield from ((how, (each, deletes)) for how, each in set_damage(random, adds, question.atoms))
    yield from ((how, (adds, each)) for how, each in set_damage(random, deletes, question.atoms))
    yield "sides exchanged", (deletes, adds)


def trace_damage(random: Random, question: Question, right: tuple[frozenset[Atom], ...]) -> Made:
    if right:
        one, other = (random.randrange(len(right)) for _ in range(2))
        for how, each in set_damage(random, right[one], question.atoms):
            if each:
                yield how, (*right[:one], each, *right[one + 1 :])
        yield "a state left out", right[:-1]
        states = list(right)
        states[one], states[other] = states[other], states[one]
        yield "states exchanged", tuple(states)


def executability_damage(random: Random, question: Question) -> Made:
    yield "none", None
    if question.plan:
        yield "another index", random.randrange(len(question.plan))
        yield "another action", random.choice(question.plan)


def validity_damage(random: Random, question: Question, right: tuple[bool, int | None, Atom | None]) -> Made:
    valid, index, _ = right
    yield "verdict", (not valid, None, None)
    if not valid:
        yield "another index", (False, random.randrange(len(question.plan) + 1), None)
        yield "another condition", (False, index, random.choice(question.atoms))


def plan_damage(random: Random, question: Question, right: tuple[Atom, ...] | None) -> Made:
    plan = question.plan if right is None else right
    at = random.randrange(len(plan) + 1)
    yield "none", None
    yield "the plan itself", question.plan
    yield "left out", (*plan[:at], *plan[at + 1 :])
    yield "added", (*plan[:at], random.choice(question.actions), *plan[at:])
    yield "another order", tuple(random.sample(plan, len(plan)))


def pick_damage(random: Random, question: Question, right: Atom | None) -> Made:
    yield "none", None
    for each in random.sample(question.pool, min(6, len(question.pool))):
        yield "another", each
    if right is not None:
        yield "unknown object", (*right, "nobody")
        yield "unknown name", ("polished", *right[1:])


# --- Texts -----------------------------------------------------------------------------------------------------------


def pddl(atom: Atom) -> str:
    return f"(not {pddl(atom[1:])})" if atom[:1] == ("not",) else f"({' '.join(atom)})"


def call(atom: Atom) -> str:
    return f"not {call(atom[1:])}" if atom[:1] == ("not",) else f"{atom[0]}({', '.join(atom[1:])})"


NOTATIONS: dict[str, Callable[[Sequence[Atom]], str]] = {
    "commas": lambda atoms: ", ".join(map(pddl, atoms)),
    "in brackets": lambda atoms: f"[{', '.join(map(pddl, atoms))}]",
    "calls": lambda atoms: ", ".join(map(call, atoms)),
    "calls in brackets": lambda atoms: f"[{', '.join(map(call, atoms))}]",
    "json": lambda atoms: json.dumps(list(map(pddl, atoms))),
    "quoted calls": lambda atoms: str(list(map(call, atoms))),
    "upper case": lambda atoms: " ".join(map(pddl, atoms)).upper(),
    "lines": lambda atoms: "\n".join(map(pddl, atoms)),
    "bullets": lambda atoms: "\n".join(f"- {pddl(atom)}" for atom in atoms),
    "words in brackets": lambda atoms: f"[{', '.join(map(' '.join, atoms))}]",
}

IN_A_LINE = list(NOTATIONS)[:7]

AROUND = [
    "{}", "{}", "{}", "Answer:\n{}", "```\n{}\n```", "<think>That is not easy.</think>\n{}",
    "Here is my answer.\n\n{}\n\nI hope this helps!",
]  # fmt: skip

NOTHING = ["None", "none", "None.", "There is none.", "[]"]
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


def text(random: Random, question: Question, answer: Hashable) -> tuple[str, str]:
    """The name of a notation, and the answer in it as a model could write it."""
    if answer in (None, frozenset()) or (question.kind == "progression" and not any(answer)):
        return "none", random.choice(NOTHING)
    notation = random.choice(list(NOTATIONS))
    match question.kind:
        case "applicable" | "state":
            body = NOTATIONS[notation](shuffled(random, answer))
        case "progression":
            notation, body = progression_text(random, *answer)
        case "trace":
            notation = random.choice(IN_A_LINE)
            states = [NOTATIONS[notation](shuffled(random, each)) if each else "[]" for each in answer]
            body = "\n".join(f"Step {number}: {each}" for number, each in enumerate(states, 1))
            body = f"[{', '.join(states)}]" if notation == "json" else body
        case "executability":
            notation, body = random.choice(list(executability_texts(question, answer).items()))
        case "validity":
            notation, body = random.choice(list(validity_texts(question, *answer).items()))
        case "justification":
            body = NOTATIONS[notation](answer)
        case _:
            notation, body = random.choice(list(element_texts(answer).items()))
    return notation, random.choice(AROUND).format(body)


def shuffled(random: Random, atoms: frozenset[Atom]) -> list[Atom]:
    return random.sample(sorted(atoms), len(atoms))


def progression_text(random: Random, *sides: frozenset[Atom]) -> tuple[str, str]:
    """The literals, or two lists."""
    adds, deletes = (shuffled(random, each) for each in sides)
    notation = random.choice(IN_A_LINE)
    written = NOTATIONS[notation]
    match random.randrange(3):
        case 0:
            return f"signed, {notation}", written([*adds, *(("not", *atom) for atom in deletes)])
        case 1:
            lists = [
                f"{name}: {written(side) if side else '[]'}"
                for name, side in zip(EFFECTS, (adds, deletes), strict=True)
            ]
            return f"two lists, {notation}", "\n".join(lists)
        case _:
            return "object of two lists", json.dumps({"pos": list(map(pddl, adds)), "neg": list(map(pddl, deletes))})


EFFECTS = ("Positive effects", "Negative effects")


def element_texts(atom: Atom) -> dict[str, str]:
    return {"pddl": pddl(atom), "call": call(atom), "upper case": pddl(atom).upper()}


def executability_texts(question: Question, answer: int | Atom) -> dict[str, str]:
    if isinstance(answer, tuple):
        return element_texts(answer)
    sentence = f"The {ORDINALS[answer]} action cannot be executed."
    return {"index": str(answer), "sentence": sentence, "named": f"index {answer}"}


def validity_texts(question: Question, valid: bool, index: int | None, literal: Atom | None) -> dict[str, str]:
    if valid:
        return {"yes": "Yes", "sentence": "The plan is valid.", "label": "valid"}
    if index is None and literal is None:
        return {"no": "No", "sentence": "The plan is not valid.", "label": "invalid"}
    where = "" if index is None else f" Step {index + 1} cannot be executed."
    why = "" if literal is None else f" The unmet condition is {pddl(literal)}."
    return {"reason": f"No.{where}{why}"}


# --- Comparison ------------------------------------------------------------------------------------------------------


def compare(question: Question, tally: Tally, seed: int) -> None:
    """Compare the key, a right answer and damaged ones."""
    random = Random(f"{seed} {question.number} {question.kind} {question.plan}")
    states = size(question.scene)
    rows = ["all", f"kind {question.kind}", f"domain {question.name}", f"states {states}", f"{question.kind}, {states}"]
    keys, silence = keys_of(question)
    if keys is None:  # The program would list a hundred times as many states, for nothing to compare.
        tally.count(rows, "judge silent")
        return
    right = random.choice(sorted(keys, key=repr)) if keys else None
    answers: dict[Hashable, str] = {}
    for how, answer in [("right", right), *(made(random, question, right) if keys else ())]:
        answers.setdefault(answer, how)
    answers.pop((), None)  # A text that says a plan without steps may as well say "none".
    for answer, how in answers.items():
        notation, written = text(random, question, answer)
        found = pddl_eval.judge_answer(
            question.kind, written, question.problem, question.domain, plan=question.plan_text
        )
        truth = bool(keys) and is_right(question, keys, answer)
        outcome = silence or ("undecided" if found.correct is None else "agree" if found.correct is truth else "wrong")
        if (silence == "no key" and found.correct) or (found.verdict == "reference_invalid" and not silence):
            outcome = "wrong"
        tally.count(
            [*rows, f"{question.kind}: {how}", f"notation {notation}"], "asked", "right" if truth else "", outcome
        )
        if outcome == "wrong":
            tally.disagree(f"{question.shown}\n{how}: {written}\n= {answer}, judge {truth}, program {found}")
    difference = key_difference(question, keys)
    tally.count([f"{question.kind}: key", "keys"], "asked", "wrong" if difference else "agree")
    if difference:
        tally.disagree(f"{question.shown}\nkey: {difference}")


def keys_of(question: Question) -> tuple[Answers | None, str]:
    """The judge's key; empty where there is none, None where it does not know, both with the word for it."""
    try:
        return KINDS[question.kind](question.scene, question.plan), ""
    except NoKey:
        return frozenset(), "no key"
    except (TooManyStates, Refused, Undefined):
        return None, "judge silent"


def is_right(question: Question, keys: Answers, answer: Hashable) -> bool:
    if question.kind == "executability" and isinstance(answer, tuple):
        return any(index is not None and question.plan[index] == answer for index in keys)
    return answer in keys


def key_difference(question: Question, keys: Answers) -> str:
    """What is wrong with the program's own key."""
    kind, asked = question.kind, (question.problem, question.domain)
    found = pddl_eval.right_answers(kind, *asked, plan=question.plan_text)
    if not keys or found.text is None:
        return f"{found} where there is no key" if found.text is not None else ""
    if not pddl_eval.judge_answer(kind, found.text, *asked, plan=question.plan_text).correct:
        return f"its text is not right: {found}"
    if kind in NONE_IS_AN_ANSWER and found.none_is_right not in (None, None in keys):
        return f"none_is_right: {found}, judge {sorted(keys, key=repr)[:5]}"
    if found.elements is None or kind == "justification":
        return ""
    wanted = elements(kind, keys)
    return "" if found.elements == wanted else f"elements: {found}, judge {wanted}"


NONE_IS_AN_ANSWER = {
    "executability",
    "justification",
    "unreachable_atom",
    "unreachable_action",
    "landmark",
    "next_action",
}


def elements(kind: str, keys: Answers) -> Hashable:
    """The key as the program has it."""
    one = next(iter(keys))
    match kind:
        case "applicable" | "state" | "trace":
            return one
        case "progression":
            return one[0] | {("not", atom) for atom in one[1]}
        case "validity":
            return frozenset({one[0]})
        case _:
            return keys - {None}


def speed(tasks: Iterable[tuple[str, str, str, tuple[Atom, ...]]], seed: int) -> None:
    """Print what the judgement of a recorded answer takes on one core, with the kernel and without, by kind."""
    drawn = [{"reference_problem": problem, "domain": domain} for _, domain, problem, _ in tasks]
    rows = Asking(seed=seed).table(pa.Table.from_pylist(drawn)).to_pylist()
    spent: dict[str, tuple[list[float], list[float]]] = {kind: ([], []) for kind in KINDS}
    for which, read_row in enumerate((kernel.read_answer, read_by_definition)):
        with keeping(Kept()):
            for row in rows:
                begun = time.process_time()
                _ = read_row({**row, "generated_answer": row["reference_answer"]}, ScoringOptions()).verdict
                spent[row["question"]][which].append(1000 * (time.process_time() - begun))
    for kind, took in spent.items():
        milliseconds = "".join(f"{fmean(each):>8.2f} ms {1000 / fmean(each):>8,.0f} rows/s" for each in took)
        print(f"{kind:<20} {len(took[0]):>6} rows{milliseconds}")


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    parser = drawing(__doc__, 500, "answers of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of questions, with commas")
    parser.add_argument("--speed", action="store_true", help="time recorded answers about that many tasks")
    parser.add_argument("--stories", default="", help="names or kinds of domains, with commas; default: all")
    arguments = parser.parse_args()
    tally, number = Tally(*COLUMNS), arguments.first
    stories = tuple(filter(None, arguments.stories.split(",")))
    if arguments.speed:
        numbers = range(number, number + arguments.count)
        speed((task(Random(f"{arguments.seed} {each}"), each, ()) for each in numbers), arguments.seed)
        return 0
    with suppress(KeyboardInterrupt):
        while kinds := [
            kind for kind in arguments.kinds.split(",") if tally.cells[f"kind {kind}"]["asked"] < arguments.count
        ]:
            for question in questions(number, arguments.seed, kinds, stories):
                compare(question, tally, arguments.seed)
            number += 1
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
