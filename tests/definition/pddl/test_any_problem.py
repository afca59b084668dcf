"""The reader of problems in any PDDL: a STRIPS problem is the same to it as to the reader of problem pairs."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import ParseError, problem_blocks, read_any_problem, read_problem, without_thinking
from pddl_eval.definition.pddl.any_problem import problem_of_block

from tests.support.mutations import OWN_PROBLEMS, mutate, reference_texts, soup
from tests.support.shared_problems import SHARED_PROBLEMS


def differs(text: str) -> str:
    """The first block of a text that both readers accept and read differently; empty where there is none."""
    for block in problem_blocks(without_thinking(text.lower())):
        expected = read_problem(block.text)
        if isinstance(expected, Problem):
            try:
                found = problem_of_block(block.text)
            except ParseError:  # what the pddl package's lexer splits, such as `:requirements:strips`
                continue
            if found != expected or [*found.objects] != [*expected.objects]:
                return block.text
    return ""


@pytest.mark.parametrize("seed", range(4))
def test_both_readers_agree_on_mutated_problems(seed: int) -> None:
    chance = Random(f"any problem {seed}")
    accepted = 0
    for _ in range(300):
        text = mutate(chance.choice(OWN_PROBLEMS), chance) if chance.random() < 0.8 else soup(chance)
        assert not differs(text), text
        expected, found = read_problem(text), read_any_problem(text)
        if isinstance(expected, Problem):
            assert found == expected
            accepted += 1
    assert accepted > 40


def test_both_readers_agree_on_published_problems() -> None:
    if not SHARED_PROBLEMS.exists():
        pytest.skip("../shared/data is absent")
    for text in Random(5).sample(reference_texts(), 100):
        assert problem_of_block(text.lower().strip()) == read_problem(text)
