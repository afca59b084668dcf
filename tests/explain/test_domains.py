"""What an explanation of a domain says: partners, what one lacks, and other words for the same."""

import pytest
from pddl_eval import compare_domains, validate
from pddl_eval.explain import explain_row
from pddl_eval.explain.domains import DomainExplanation

from tests.support.sample import DOMAIN_TEXTS

GRIPPER = DOMAIN_TEXTS["gripper"]


def explained(generated: str | None, reference: str = GRIPPER) -> DomainExplanation:
    part = explain_row({"reference_domain": reference, "generated_domain": generated}).parts["domain"]
    assert isinstance(part, DomainExplanation)
    return part


def shown(explanation: DomainExplanation, *, whole: bool = False) -> dict[str, list[list[str]]]:
    """The rows of each operator's table that differ, by its caption; all without their mark."""
    page = explanation.page(whole=whole)
    (section,) = [each for each in page.sections if each.title.startswith("Operators")]
    return {
        table.caption.partition(" (")[0]: [[cell.text for cell in row[1:]] for row in table.rows if row[0].text]
        for table in section.tables
    }


def test_a_literal_that_is_lacking_and_one_that_is_extra() -> None:
    wrong = GRIPPER.replace("(not (free ?g))))", "(held ?b)))", 1)
    assert shown(explained(wrong)) == {
        "pick": [["added", "–", "(held ?b)"], ["deleted", "(free ?g)", "–"]],
    }
    assert list(shown(explained(wrong), whole=True)) == ["pick"]
    told = [each for section in explained(wrong).page(whole=True).sections for each in section.paragraphs]
    assert any("move, drop" in each for each in told), "those that are the same are named"


def test_an_operator_without_a_partner() -> None:
    lost = GRIPPER[: GRIPPER.index("(:action drop")] + ")"
    (drop,) = shown(explained(lost)).values()
    assert len(drop) == 9 and all(row[2] == "–" for row in drop)
    (extra,) = shown(explained(GRIPPER, lost)).values()
    assert len(extra) == 9 and all(row[1] == "–" for row in extra)


def test_a_renamed_domain_has_no_difference_but_its_words() -> None:
    renamed = GRIPPER.replace("at-robby", "robot-in").replace("pick", "grab").replace("carry ?b ?g", "holds ?g ?b")
    explanation = explained(renamed)
    assert explanation.page().good is True and shown(explanation) == {}
    words = explanation.page().sections[1].tables[0]
    rows = [[cell.text for cell in row] for row in words.rows]
    assert ["operator", "pick", "grab", ""] in rows and ["predicate", "at-robby", "robot-in", ""] in rows
    assert any(row[:3] == ["predicate", "carry", "holds"] and "2 1" in row[3] for row in rows)
    assert not any(shown(explanation, whole=True).values())


def test_types_that_differ_are_marked_at_the_parameters() -> None:
    floor = DOMAIN_TEXTS["floor-tile"]
    changed = shown(explained(floor.replace("?old - color", "?old - tile"), floor))
    assert list(changed) == ["change-color"]
    assert [row[0] for row in changed["change-color"]] == ["parameters"]


def test_what_is_beyond_strips_is_shown_as_written() -> None:
    adl = GRIPPER.replace("(free ?g))\n", "(free ?g) (forall (?x) (not (tied ?x))))\n", 1)
    (caption,) = shown(explained(adl))
    assert caption == "pick"
    assert "forall" in str(explain_row({"reference_domain": GRIPPER, "generated_domain": adl}))


@pytest.mark.parametrize("generated", [None, "", "no domain", "(define (domain d"])
def test_what_cannot_be_read_has_its_reason(generated: str | None) -> None:
    explanation = explained(generated)
    assert explanation.generated is None and explanation.page().good is False
    assert explanation.detail == compare_domains(GRIPPER, generated).detail != ""


def test_formulas_beyond_strips_that_differ_are_named_and_marked() -> None:
    domain = """(define (domain d) (:predicates (p ?x) (q))
      (:action rest :parameters () :effect (q))
      (:action go :parameters () :precondition (forall (?y) (p ?y)) :effect (q)))"""
    explanation = explained(domain.replace("forall", "exists"), domain)
    assert explanation.detail.startswith("go ")
    assert [row[0] for row in shown(explanation)["go"]] == ["beyond STRIPS"] * 2
    assert shown(explained(domain.replace("?y", "?z"), domain)) == {}


def test_a_cost_that_is_said_twice_is_shown_as_twice() -> None:
    text = "(define (domain d) (:action a :effect (and (p) {})))"
    cost = "(increase (total-cost) 1)"
    (rows,) = shown(explained(text.format(cost), text.format(cost * 2))).values()
    assert rows == [["beyond STRIPS", f":effect: {cost} ×2", f":effect: {cost}"]]


FERRY = """(define (domain ferry) (:predicates (at ?c ?p) (here ?p) (on ?c) (free))
  (:action board :parameters (?c ?p) :precondition (and (at ?c ?p) (here ?p) (free))
    :effect (and (on ?c) (not (at ?c ?p)) (not (free)))))"""


@pytest.mark.parametrize(
    ("changed", "works_in_reference", "why"),
    [
        (FERRY.replace(" (not (free))", ""), True, "(not (free))"),
        (FERRY.replace(" (here ?p) (free))", " (free))"), False, "(here p)"),
        (FERRY.replace("(here ?p) (free))", "(here ?p) (free) (on ?c))"), True, "(on c)"),
        (FERRY.replace("(and (on ?c)", "(and (here ?p)"), True, "(on c)"),
        (FERRY.replace("(and (on ?c)", "(and (on ?c) (at ?p ?p)"), True, "(not (at p p))"),
        (FERRY.replace("(and (at", "(and (not (on ?c)) (at"), True, "(on c)"),
    ],
)
def test_a_plan_works_in_only_one_of_two_domains(changed: str, works_in_reference: bool, why: str) -> None:
    found = explained(changed, FERRY).telling
    assert found is not None and found.works_in_reference is works_in_reference and why in found.why
    works, fails = (FERRY, changed) if works_in_reference else (changed, FERRY)
    assert validate(found.step, found.problem, works).valid is True
    assert validate(found.step, found.problem, fails).valid is False
    assert any(
        found.step in each for section in explained(changed, FERRY).page().sections for each in section.paragraphs
    )


def test_no_plan_is_told_where_no_step_tells() -> None:
    assert explained(FERRY, FERRY).telling is None
    assert explained(FERRY.replace("board", "enter"), FERRY).telling is None
