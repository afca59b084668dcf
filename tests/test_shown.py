"""Hostile texts as they are shown: short, on one line, nothing in them that a terminal obeys."""

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.shown import block, line


@given(st.text(), st.integers(1, 50))
def test_what_is_shown_is_printable_and_no_longer_than_asked(text: str, most: int) -> None:
    assert len(line(text, most)) <= most
    assert line(text, most).isprintable()


@given(st.text())
def test_a_block_keeps_its_lines(text: str) -> None:
    shown = block(text, most=10_000)
    assert shown.count("\n") == text.count("\n")
    assert all(each.isprintable() for each in shown.split("\n"))


def test_a_long_block_says_how_much_is_missing() -> None:
    shown = block("a" * 1500, most=500)
    assert shown.startswith("a" * 500) and "1,000" in shown and len(shown) < 550
