"""The long run of domain verdicts against judges: ``python -m tests.measure.domains --count 10000 --tasks 5000``.

``--count`` mutants of the corpus: the verdict is the mutant's label; where a mutation has no label, a search for an
isomorphism (networkx) says whether a no is right. ``--small`` random pairs of small domains, judged by all bijections;
``--timed`` the same with durative actions and constraints.
``--tasks`` random pairs of small tasks, judged by all bijections and all reachable states; ``--problems`` pairs of
problems in one domain. ``--mangled`` domains of the
corpus with words or lists lost, doubled or replaced: nothing may break. Everywhere a yes needs a
renaming that makes one domain the other when it is applied here, and certificates that are equal; a no, certificates
that differ. It prints a table, the times of a pair (processor time, texts read), and each disagreement with the number
that draws it again (``--first NUMBER``), and exits with 1 on any.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from random import Random
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import networkx
from pddl_eval import compare_domains, compare_problems, compare_tasks
from pddl_eval.benchmark.answers import Grade
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.pddl import parse_domain

from tests.corpus import CORPUS
from tests.judges.domain_equivalence import Witness, faults, verdict
from tests.judges.task_equivalence import (
    Task,
    declared,
    problems_equivalent,
    random_problems,
    random_tasks,
    tasks_equivalent,
)
from tests.measure.tally import Tally, drawing
from tests.support.domain_answers import DOMAIN_ANSWERS, OriginalDomain, domain_answer
from tests.support.domain_pairs import random_pair, written
from tests.support.written_domain import Outline, Renaming, WrittenDomain, outline, read_written, spelled_out


@cache
def original_of(name: str) -> OriginalDomain:
    return OriginalDomain(CORPUS[name].domain)


class Finding(NamedTuple):
    """What one pair showed: what it is, what is wrong with the answer, how long it took, and its texts."""

    kind: str
    wrong: list[str]
    seconds: float
    texts: tuple[str, ...]


def small_pair(seed: int, number: int, timed: bool = False) -> Finding:
    """A random pair of small domains against all bijections."""
    pair = random_pair(Random(f"small {seed} {number}"), timed=timed)
    expected = verdict(*pair)
    texts = tuple(map(written, pair))
    scores, seconds = _timed(compare_domains, *texts)
    wrong = [] if scores.verdict.value == expected else [f"{scores.verdict.value}, not {expected}: {scores.detail}"]
    wrong += faults(*pair, scores.renaming) if scores.renaming else []
    return Finding(expected, wrong + _contradictions(scores, *texts), seconds, texts)


def mutant(seed: int, number: int, names: Sequence[str] = tuple(CORPUS)) -> Finding:
    """A mutant of a domain of the corpus against its label."""
    random = Random(f"mutant {seed} {number}")
    original = original_of(names[number % len(names)])
    for name in random.sample(sorted(DOMAIN_ANSWERS), len(DOMAIN_ANSWERS)):
        if found := domain_answer(original, name, random):
            break
    text, labels = found
    scores, seconds = _timed(compare_domains, original.text, text)
    said = scores.verdict.value
    wrong = [] if labels.verdict in (None, said) else [f"{said}, not {labels.verdict}: {scores.detail}"]
    wrong += [] if labels.equivalent in (None, scores.equivalent) else [f"equivalent: {scores.equivalent}"]
    if DOMAIN_ANSWERS[name].grade is not Grade.UNPARSEABLE:
        written = read_written(text)
        if (
            labels.equivalent is None
            and not scores.equivalent
            and isomorphic(outline(original.domain), outline(written))
        ):
            wrong.append(f"{said}, but networkx finds an isomorphism")
        if scores.renaming:
            if spelled_out(written.renamed(_as_written(scores.renaming, written))) != spelled_out(original.domain):
                wrong.append("the renaming does not make one the other")
            domains = parse_domain(original.text), parse_domain(text)
            wrong += [] if domains[0].outside_strips else faults(*domains, scores.renaming)
        wrong += _contradictions(scores, original.text, text)
    return Finding(f"{name}: {said}", wrong, seconds, (original.text, text))


def small_task(seed: int, number: int) -> Finding:
    """A random pair of small tasks against all bijections and all reachable states; three in ten are placeholders."""
    random = Random(f"task {seed} {number}")
    reference, generated = random_tasks(random)
    is_placeholder = random.random() < 0.3
    expected = tasks_equivalent(reference, generated, is_placeholder)
    with_adl = random.random() < 0.3
    texts = tuple(
        text
        for domain, problem in (reference, generated)
        for text in (
            conditional(domain_to_pddl(domain)) if with_adl else domain_to_pddl(domain),
            problem_to_pddl(problem),
        )
    )
    found, seconds = _timed(lambda *four: compare_tasks(*four, is_placeholder=is_placeholder), *texts)
    beyond = any(parse_domain(text).outside_strips for text in texts[::2])  # no goal is fully specified
    wrong = (
        []
        if found.equivalent in (expected, None if beyond else expected)
        else [f"{found.equivalent}, not {expected}: {found.detail}"]
    )
    domains = declared(reference)[0], declared(generated)[0]
    wrong += faults(*domains, found.renaming) if found.renaming else []
    wrong += ["no renaming"] if found.equivalent and not found.renaming else []
    wrong += ["no object map"] if found.equivalent and not _is_map(found.object_map, reference, generated) else []
    said = "undecided " if found.equivalent is None else ""
    return Finding(f"{said}{'placeholder' if is_placeholder else 'task'} {expected}", wrong, seconds, texts)


def small_problems(seed: int, number: int) -> Finding:
    """A random pair of small problems in one domain, as texts, against all bijections and all reachable states."""
    random = Random(f"problems {seed} {number}")
    reference, generated = random_problems(random)
    is_placeholder = random.random() < 0.3
    expected = problems_equivalent(reference, generated, is_placeholder)
    texts = domain_to_pddl(reference[0]), problem_to_pddl(reference[1]), problem_to_pddl(generated)
    found, seconds = _timed(
        lambda domain, *pair: compare_problems(*pair, domain=domain, is_placeholder=is_placeholder), *texts
    )
    beyond = bool(parse_domain(texts[0]).outside_strips)
    wrong = (
        []
        if found.equivalent in (expected, None if beyond else expected)
        else [f"{found.equivalent}, not {expected}: {found.detail}"]
    )
    tasks = reference, (reference[0], generated)
    wrong += ["no object map"] if found.equivalent and not _is_map(found.object_map, *tasks) else []
    said = "undecided " if found.equivalent is None else ""
    return Finding(f"{said}{'placeholder' if is_placeholder else 'problems'} {expected}", wrong, seconds, texts)


def conditional(text: str) -> str:
    """The domain with each delete effect as a conditional one: beyond STRIPS, and the same in each state."""
    return "\n".join(
        re.sub(r"\(not (\(.*?\))\)", r"(when \1 (not \1))", line) if ":effect" in line else line
        for line in text.splitlines()
    )


def _is_map(names: dict[str, str] | None, reference: Task, generated: Task) -> bool:
    """Whether it maps the objects of one problem onto those of the other; what its own domain declares is no object."""
    if names is None or sorted(names) != sorted(generated[1].objects.keys() - generated[0].constants.keys()):
        return False
    ours, theirs = declared(generated)[1].objects, declared(reference)[1].objects
    return sorted(names[name] for name in ours) == sorted(theirs)


def mangled_pair(seed: int, number: int) -> Finding:
    """A domain of the corpus with some words or lists lost, doubled or replaced, and its task: nothing may break.

    Both directions agree, every domain that can be read is identical with itself, and certificates fit the verdict.
    """
    random = Random(f"mangled {seed} {number}")
    name = random.choice(sorted(CORPUS))
    reference, problem = CORPUS[name]
    texts = (
        reference,
        mangled(reference, random, random.choice((1, 1, 2, 4))),
        mangled(problem, random, random.randrange(3)),
    )
    try:
        scores, seconds = _timed(compare_domains, *texts[:2])
        task = compare_tasks(reference, problem, *texts[1:])
        wrong = ["the tasks are equivalent, the domains are not"] if task.equivalent and not scores.equivalent else []
        if scores.verdict.value != "unparseable" and parse_domain(texts[1]).operators:
            wrong += _contradictions(scores, *texts[:2])
            alone = compare_domains(texts[1], texts[1]).verdict.value
            wrong += [] if alone == "identical" else [f"{alone} with itself"]
        return Finding(scores.verdict.value, wrong, seconds, texts)
    except Exception as error:
        return Finding("crashed", [repr(error)], 0.0, texts)


STRAY = ("object", "=", "-", "?x", "and", "or", "not", "either", "forall", "when", "()", "total-cost", ":types", "1")
"""Words that stand where they should not."""


def mangled(text: str, random: Random, changes: int) -> str:
    words = re.findall(r"[()]|[^\s()]+", re.sub(";.*", "", text))
    for _ in range(changes):
        place = random.randrange(3, len(words))
        end = place + 1
        if words[place] == "(":
            while end < len(words) and words[place:end].count("(") > words[place:end].count(")"):
                end += 1
        taken = words[place:end] if words[place] != ")" else []
        kind = random.randrange(4)
        if kind == 0:
            words[place : place + len(taken)] = []
        elif kind == 1:
            words[place : place + len(taken)] = [random.choice([*words, *STRAY])] if len(taken) == 1 else ["()"]
        else:
            elsewhere = random.randrange(3, len(words))
            words[elsewhere:elsewhere] = taken
    return " ".join(words)


def _timed(function: Callable[..., Any], *arguments: str) -> tuple[Any, float]:
    start = process_time()
    found = function(*arguments)
    return found, process_time() - start


def _contradictions(scores: Any, reference: str, generated: str) -> list[str]:
    """Where the verdict, the renaming and the certificates (each made from its text alone) do not fit together."""
    wrong = []
    if (
        scores.equivalent != (scores.verdict.value in ("identical", "renamed"))
        or bool(scores.renaming) != scores.equivalent
    ):
        wrong.append(f"{scores.verdict.value}, {scores.equivalent}, renaming {scores.renaming}")
    alone = [compare_domains(text, text).domain_certificate for text in (reference, generated)]
    if None in alone or (alone[0] == alone[1]) != scores.equivalent or scores.domain_certificate != alone[1]:
        wrong.append(f"equivalent: {scores.equivalent}; certificates {alone}, {scores.domain_certificate}")
    return wrong


def _as_written(witness: Witness, domain: WrittenDomain) -> Renaming:
    """A witness as ``written_domain`` applies renamings: for each place of the renamed, the old place.

    What no operator uses, and the witness need not name, gets names that nothing else has.
    """

    def old_places(order: Sequence[int]) -> list[int]:
        return sorted(range(len(order)), key=order.__getitem__)

    symbols = {**witness.predicates, **witness.functions}
    return Renaming(
        {name: f"unused {name}" for name, _ in domain.types} | dict(witness.types),
        {name: f"unused {name}" for name, _ in domain.constants} | dict(witness.constants),
        {name: image for (name, _), (image, _) in symbols.items()},
        {name: image for name, (image, _) in witness.operators.items()},
        {name: old_places(order) for (name, _), (_, order) in symbols.items()},
        {name: old_places(order) for name, (_, order) in witness.operators.items()},
    )


def isomorphic(one: Outline, other: Outline) -> bool:
    """Whether networkx finds an isomorphism between two outlines; colours that refine each other narrow its search."""
    graphs = _graph(one), _graph(other)
    if Counter(dict(graphs[0].nodes("color")).values()) != Counter(dict(graphs[1].nodes("color")).values()):
        return False
    matcher = networkx.isomorphism.GraphMatcher(
        *graphs, node_match=lambda a, b: a["color"] == b["color"], edge_match=lambda a, b: a == b
    )
    return bool(matcher.is_isomorphic())


def _graph(drawn: Outline) -> networkx.Graph:
    """A node for each thing and for each relation, which has an edge to each of its things with its places."""
    graph = networkx.Graph()
    colors: dict[str | int, int] = {name: hash(kind) for name, kind in drawn[0].items()}
    for number, (relation, *things) in enumerate(drawn[1]):
        colors[number] = hash(relation)
        for place, name in enumerate(things):
            graph.add_edge(number, name, **{str(place): True})
    graph.add_nodes_from(colors)
    while True:
        told = {node: sorted((str(data), colors[near]) for near, data in graph.adj[node].items()) for node in graph}
        refined = {node: hash((color, *told[node])) for node, color in colors.items()}
        if len(set(refined.values())) == len(set(colors.values())):
            break
        colors = refined
    networkx.set_node_attributes(graph, colors, "color")
    return graph


CHECKS: dict[str, Callable[[int, int], Finding]] = {
    "count": mutant,
    "small": small_pair,
    "timed": partial(small_pair, timed=True),
    "tasks": small_task,
    "problems": small_problems,
    "mangled": mangled_pair,
}


def main() -> int:
    """Compare, print the disagreements, the tables and the times; 1 when there are any."""
    parser = drawing(__doc__, 0, "mutants of the corpus")
    for name in CHECKS:
        if name != "count":
            parser.add_argument(f"--{name}", type=int, default=0)
    chosen = vars(parser.parse_args())
    tally = Tally("cases", "disagree")
    for name, check in CHECKS.items():
        times = []
        for number in range(chosen["first"], chosen["first"] + chosen[name]):
            finding = check(chosen["seed"], number)
            tally.count([f"{name} {finding.kind}"], "cases", "disagree" if finding.wrong else "")
            times.append((finding.seconds, finding.kind, number))
            if finding.wrong:
                call = f"--{name} 1 --first {number} --seed {chosen['seed']}"
                tally.disagree("\n".join([f"{call}: {finding.kind}: {finding.wrong}", *finding.texts]))
        if times:
            slowest, kind, number = max(times)
            print(f"{name}: median {median(each for each, *_ in times) * 1000:.2f} ms a pair")
            print(f"{name}: worst {slowest * 1000:.0f} ms: {kind}, number {number}")
    return tally.finish(chosen["seed"])


if __name__ == "__main__":
    sys.exit(main())
