"""Columns to group by: which are taken, which refused, how values are named and ordered."""

from __future__ import annotations

import polars as pl
import pytest
from pddl_eval.errors import UserError
from pddl_eval.report.groups import MISSING, choose_groups, group_key, in_order, levels

SCHEMA = {
    "model": pl.String(),
    "domain": pl.String(),
    "tags": pl.List(pl.String),
    "rows": pl.Int64(),
    "verdict": pl.String(),
}


def test_by_default_model_and_domain_where_there_are_such() -> None:
    assert choose_groups(SCHEMA, None) == ("model", "domain")
    assert choose_groups({"model": pl.List(pl.String), "domain": pl.String()}, None) == ("domain",)
    assert choose_groups({}, None) == ()


def test_a_single_name_is_a_column_and_not_its_letters() -> None:
    assert choose_groups(SCHEMA, "domain") == ("domain",)


def test_no_groups_where_none_are_asked_for() -> None:
    assert choose_groups(SCHEMA, []) == ()


def test_a_column_asked_for_twice_counts_once() -> None:
    assert choose_groups(SCHEMA, ["domain", "model", "domain"]) == ("domain", "model")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("modell", ("modell", "did you mean model?")),
        ("zzz", ("zzz", "the columns are model, domain, tags, rows")),
        ("verdict", ("verdict", "score")),
        ("tags", ("tags", "List")),
        ("rows", ("rows", "rename")),
    ],
)
def test_a_column_that_cannot_group_is_refused_in_one_sentence(name: str, said: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as raised:
        choose_groups(SCHEMA, [name])
    assert all(part in str(raised.value) for part in said)


def test_levels_are_each_column_alone_the_first_with_each_other_and_all() -> None:
    expected = ((), ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("a", "b", "c"))
    assert levels(["a", "b", "c"]) == expected
    assert levels([]) == ((),)


def test_values_of_any_type_become_names() -> None:
    frame = pl.DataFrame({"flag": [True, None], "size": [20, None], "text": ["", "x"]})
    named = frame.select(group_key("flag"), group_key("size"), group_key("text"))
    assert named.rows() == [("true", "20", MISSING), (MISSING, MISSING, "x")]


def test_pddl_in_another_column_than_domain_stays_as_it_is() -> None:
    text = "(define (domain ferry))"
    frame = pl.DataFrame({"domain": [text], "prompt": [text]})
    assert frame.select(group_key("domain"), group_key("prompt")).row(0) == ("ferry", text)


def test_the_rows_of_all_groups_come_first() -> None:
    frame = pl.DataFrame({"size": ["100", None, "20"], "rank": [1, 2, 3]})
    assert in_order(frame, ["size"])["rank"].to_list() == [2, 3, 1]
