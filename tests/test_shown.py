"""Hostile texts as they are shown: short, on one line, nothing in them that a terminal obeys."""

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.shown import block, line, natural_key


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


def test_numbers_in_names_are_ordered_as_numbers() -> None:
    assert sorted(["gemma-27b", "gemma-9b", "Gemma-2b", "> 80", "9" * 5000], key=natural_key) == [
        "9" * 5000,
        "> 80",
        "Gemma-2b",
        "gemma-9b",
        "gemma-27b",
    ]
