"""A description determines its problem: explicit ones can be read back, abstract ones mean one scene each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pytest
from pddl_eval.benchmark.describe import SENTENCES, describe
from pddl_eval.benchmark.enumeration import benchmark_pairs
from pddl_eval.benchmark.tasks import TaskProblem
from pddl_eval.definition.model import Atom, State

from tests.support.benchmark_problems import some_problems

PATTERNS = {
    predicate: re.compile(re.sub(r"\\{\d\\}", r"([a-z0-9]+)", re.escape(sentence)))
    for predicate, sentence in SENTENCES.items()
}
KINDS = {"balls": "ball", "grippers": "gripper", "rooms": "room"}


@pytest.fixture
def problems() -> tuple[TaskProblem, ...]:
    return some_problems()


def read_back(sentences: str) -> Iterator[Atom]:
    """The atoms of an explicit side."""
    for sentence in sentences.rstrip(".").split("; "):
        (atom,) = {
            (predicate, *match.groups())
            for predicate, pattern in PATTERNS.items()
            if (match := pattern.fullmatch(sentence))
        }
        yield atom


def read_objects(lines: list[str]) -> tuple[set[str], State]:
    """The objects that are told, and the atoms that say what they are."""
    told = {
        kind: names.rstrip(".").split(", ") for kind, names in (line.split("are ")[1].split(": ") for line in lines)
    }
    names = {name for listed in told.values() for name in listed}
    return names, frozenset((KINDS[kind], name) for kind, listed in told.items() if kind in KINDS for name in listed)


def test_an_explicit_description_reads_back_into_its_problem(problems: tuple[TaskProblem, ...]) -> None:
    for described in problems[::20]:
        text = describe(described, init_abstract=False, goal_abstract=False)
        *objects, start, end = text.splitlines()
        names, kinds = read_objects(objects)
        assert names == set(described.problem.objects)
        assert kinds | set(read_back(start.removeprefix("At the start: "))) == described.problem.init
        assert set(read_back(end.removeprefix("In the end this shall hold: "))) == described.problem.goal


def test_every_predicate_of_the_benchmark_is_among_them(problems: tuple[TaskProblem, ...]) -> None:
    told = {atom[0] for described in problems[::20] for atom in described.problem.init | described.problem.goal}
    assert told - {"ball", "gripper", "room"} == set(SENTENCES)


def test_no_sentence_can_be_read_as_two_atoms() -> None:
    for predicate, sentence in SENTENCES.items():
        told = sentence.format("x1", "x2")
        assert [other for other, pattern in PATTERNS.items() if pattern.fullmatch(told)] == [predicate]


def test_abstract_words_mean_one_initial_state(problems: tuple[TaskProblem, ...]) -> None:
    meant: dict[tuple[str, str], TaskProblem] = {}
    for described in problems:
        other = meant.setdefault((described.problem.domain, described.init.words), described)
        assert other.problem.init == described.problem.init
        assert other.problem.objects == described.problem.objects


def test_abstract_words_mean_one_goal_for_an_initial_state(problems: tuple[TaskProblem, ...]) -> None:
    meant: dict[tuple[str, State, str], TaskProblem] = {}
    for described in problems:
        key = described.problem.domain, described.problem.init, described.goal.words
        other = meant.setdefault(key, described)
        assert other.problem.goal == described.problem.goal, described.goal.words


def test_what_is_told_in_the_same_words_is_the_same_problem(problems: tuple[TaskProblem, ...]) -> None:
    """So leaving out a text that was already given loses no problem."""
    meant: dict[str, TaskProblem] = {}
    for described in (problem for problem in problems if problem.size <= 20):
        for pair in benchmark_pairs([described]):
            other = meant.setdefault(pair.description, described).problem
            assert (other.objects, other.init, other.goal) == (
                described.problem.objects,
                described.problem.init,
                described.problem.goal,
            )


@pytest.mark.parametrize("abstract", [True, False])
def test_a_description_is_a_few_lines_of_sentences(problems: tuple[TaskProblem, ...], abstract: bool) -> None:
    for described in islice(problems, 0, None, 97):
        text = describe(described, init_abstract=abstract, goal_abstract=abstract)
        assert all(line.endswith(".") for line in text.splitlines())
        assert "  " not in text and "(" not in text
