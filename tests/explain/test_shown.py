"""Hostile texts as they are shown: short, on one line, nothing in them that a terminal obeys."""

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.explain.shown import shown, shown_block


@given(st.text(), st.integers(1, 50))
def test_what_is_shown_is_printable_and_no_longer_than_asked(text: str, most: int) -> None:
    assert len(shown(text, most)) <= most
    assert shown(text, most).isprintable()


@given(st.text())
def test_a_block_keeps_its_lines(text: str) -> None:
    block = shown_block(text, most=10_000)
    assert block.count("\n") == text.count("\n")
    assert all(line.isprintable() for line in block.split("\n"))


def test_a_long_block_says_how_much_is_missing() -> None:
    assert shown_block("a" * 1500, most=500) == "a" * 500 + "… (1,000 characters more)"
