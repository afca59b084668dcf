"""Plans in any PDDL: the program against the judge, and both against facts of the definitions, set out by hand.

The long run is ``tests.measure.plans_any``.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from pddl_eval import validate

from tests.judges.agreement import compared, outcome
from tests.judges.domains import STORIES
from tests.judges.interpreter import (
    Judgement,
    Refused,
    State,
    Step,
    TooManyStates,
    judge,
    optimal_cost,
    reachable,
    read,
    tree_of,
    typed,
)
from tests.judges.plans import cases, plan_text
from tests.judges.random_domains import random_case
from tests.support.volume import in_two_sizes

# --- The program against the judge -----------------------------------------------------------------------------------

WALKS = 28
"""Eleven plans each, and each domain at least once."""


@pytest.mark.parametrize("number", range(WALKS))
def test_a_plan_is_judged_as_the_definitions_say(number: int) -> None:
    for case in cases(number, seed=27):
        found = outcome(case, Random(f"27 {number} {case.how}"))
        assert not found.difference, found.shown()
        assert not found.undecided


@in_two_sizes(40, 3_000)
def test_plans_in_random_domains_are_judged_as_the_definitions_say(cases: int) -> None:
    """Of two faults in a step either counts, and a step of STRIPS actions may be one by the rule for such domains."""
    for number in range(cases):
        random = Random(f"27 {number}")
        text, asked, steps = random_case(random)
        plan = plan_text(random, steps)
        judgements = [judge(text, asked, steps, any_order) for any_order in (False, True)]
        if not all(compared(plan, asked, text, right)[1] for right in judgements):
            continue
        found, right = validate(plan, asked, text), judgements[0]
        verdicts = {str(found.verdict), right.verdict}
        shown = f"{number}: {found.verdict}, judge {right.verdict}\n{text}\n{asked}\n{plan}"
        assert (found.failed_step, verdicts) == (right.failed_step, {"interference", "precondition"}), shown


# --- The plans -------------------------------------------------------------------------------------------------------


def test_walks_are_valid_and_other_goals_are_not_reached() -> None:
    seen = set()
    for number in range(2 * len(STORIES)):
        for case in cases(number, seed=3):
            found = judge(case.story.text, case.problem, case.steps)
            seen.add((case.how, found.verdict))
            if case.how == "valid":
                assert found.valid
            if case.how == "another goal":
                assert found.verdict == "goal_not_reached"
    assert len({how for how, _ in seen}) == 11
    assert {verdict for _, verdict in seen} == {
        "valid",
        "unknown_action",
        "wrong_arguments",
        "precondition",
        "interference",
        "goal_not_reached",
    }


def test_the_same_number_draws_the_same_cases() -> None:
    assert list(cases(5, seed=1)) == list(cases(5, seed=1)) != list(cases(5, seed=2))


def test_every_notation_has_every_step() -> None:
    steps: tuple[Step, ...] = (("go", "a", "b"), ("stop",))
    texts = {plan_text(Random(seed), steps).lower() for seed in range(40)}
    assert {"(go a b)\n(stop)", "0: (go a b)\n1: (stop)", "go(a, b), stop()"} <= texts
    assert plan_text(Random(1), (frozenset({("go", "a"), ("stop",)}),)) == "{go(a), stop()}"


# --- The judge: reading ----------------------------------------------------------------------------------------------


def test_text_is_read_in_lower_case_without_comments() -> None:
    assert tree_of("(On (?X) ; (comment\n B)") == ["on", ["?x"], "b"]


@pytest.mark.parametrize("text", ["(a", "(a))", "", "(a) (b)"])
def test_brackets_must_match(text: str) -> None:
    with pytest.raises(Refused):
        tree_of(text)


def test_types_are_given_to_all_names_before_them() -> None:
    assert typed(["a", "b", "-", "t", "c", "-", ["either", "t", "u"], "d"]) == [
        ("a", ("t",)),
        ("b", ("t",)),
        ("c", ("t", "u")),
        ("d", ("object",)),
    ]


# --- The judge and the program: semantics ----------------------------------------------------------------------------

OBJECTS = "k - small"


def domain(*sections: str) -> str:
    """A domain with the sections given; its types: small and big are things."""
    return (
        "(define (domain d) (:requirements :adl :derived-predicates :numeric-fluents :action-costs)\n"
        "(:types small big - thing other) (:constants a - small b - big c - other)\n"
        "(:predicates (p ?x) (q ?x) (r) (s) (d ?x) (e ?x ?y) (t))\n"
        "(:functions (f) (g) (h ?x) (total-cost))\n" + "\n".join(sections) + ")"
    )


def act(name: str, precondition: str, effect: str, parameters: str = "") -> str:
    return f"(:action {name} :parameters ({parameters}) :precondition {precondition} :effect {effect})"


def run(sections: list[str], init: str, goal: str, *steps: str | set[str], metric: str = "") -> Judgement:
    """Judge steps that read ``"go a b"``; a set is one concurrent step. The program says the same."""
    problem = f"(define (problem x) (:domain d) (:objects {OBJECTS}) (:init {init}) (:goal {goal}) {metric})"
    plan: list[Step] = [
        frozenset(tuple(each.split()) for each in step) if isinstance(step, set) else tuple(step.split())
        for step in steps
    ]
    found = judge(domain(*sections), problem, plan)
    assert compared(plan_text(Random(0), plan), problem, domain(*sections), found) == (False, "")
    return found


def verdict(sections: list[str], init: str, goal: str, *steps: str | set[str]) -> str:
    return run(sections, init, goal, *steps).verdict


GO = act("go", "(p ?x)", "(and (q ?x) (not (p ?x)))", "?x - thing")


def test_preconditions_effects_and_goal() -> None:
    assert verdict([GO], "(p a)", "(and (q a) (not (p a)))", "go a") == "valid"
    assert verdict([GO], "(p a)", "(p a)", "go a") == "goal_not_reached"
    assert verdict([GO], "(p a)", "(q a)") == "goal_not_reached"
    assert verdict([GO], "(p a)", "(q a)", "go b") == "precondition"
    assert verdict([GO], "(p a)", "(and)") == "valid"


def test_the_first_failure_counts() -> None:
    found = run([GO], "(p a) (p b)", "(and (q a) (q b))", "go a", "go a", "come b")
    assert (found.verdict, found.failed_step, found.valid, found.cost) == ("precondition", 2, False, None)
    assert found.executable_share == pytest.approx(1 / 3)
    assert found.goal_share == 0.5
    assert found.last_state.atoms == {("q", "a"), ("p", "b")}


@pytest.mark.parametrize(
    ("goal", "share"),
    [
        ("(p a)", 1),
        ("(q a)", 0),
        ("(and (p a) (q a) (not (q b)))", 2 / 3),
        ("(and)", 1),
        ("(forall (?x - small) (p ?x))", 0.5),  # of a and k
        ("(and (or (p a) (q a)) (and (p a) (q a)))", 2 / 3),
    ],
)
def test_the_share_of_the_goal_counts_what_a_forall_stands_for(goal: str, share: float) -> None:
    assert run([GO], "(p a)", goal).goal_share == pytest.approx(share)


def test_names_and_arguments() -> None:
    assert verdict([GO], "(p a)", "(and)", "come a") == "unknown_action"
    for wrong in ("go", "go a a", "go nobody", "go c", "go thing"):
        assert verdict([GO], "(p a) (p c)", "(and)", wrong) == "wrong_arguments"
    assert verdict([GO], "(p k)", "(q k)", "go k") == "valid"  # Constants of the domain and objects of the problem.


def test_types() -> None:
    text = domain(act("any", "(and)", "(r)", "?x - object"), act("one", "(and)", "(r)", "?x - (either big other)"))
    problem = f"(define (problem x) (:domain d) (:objects {OBJECTS}) (:init) (:goal (r)))"
    fits = {name: [x for x in "abc" if judge(text, problem, [(name, x)]).valid] for name in ("any", "one")}
    assert fits == {"any": ["a", "b", "c"], "one": ["b", "c"]}


@pytest.mark.parametrize(
    ("precondition", "true"),
    [
        ("(and (r) (not (s)))", True),
        ("(not (r))", False),
        ("(or (s) (r))", True),
        ("(or)", False),
        ("()", True),
        ("(imply (s) (t))", True),
        ("(imply (r) (t))", False),
        ("(exists (?x - thing) (p ?x))", True),
        ("(exists (?x - other) (p ?x))", False),
        ("(exists (?x - big ?y - small) (e ?x ?y))", True),
        ("(forall (?x - small) (imply (= ?x a) (p ?x)))", True),
        ("(forall (?x - thing) (p ?x))", False),
        ("(forall (?x - other) (not (p ?x)))", True),
        ("(forall (?x) (exists (?y) (= ?x ?y)))", True),
        ("(exists (?x) (and (p ?x) (exists (?x) (not (p ?x)))))", True),  # The inner variable hides the outer one.
        ("(not (= a b))", True),
        ("(= a b)", False),
        ("(= (f) 2)", True),
        ("(= f (+ 1 1))", True),
        ("(< (f) 2)", False),
        ("(<= (f) (h a))", True),
        ("(> (h a) 2.5)", True),
        ("(>= (- (h a) (f)) 1.0)", True),
        ("(= (- (f)) -2)", True),
        ("(= (* (/ 1 3) 3) 1)", True),  # Numbers are exact.
        ("(= (* 0.1 3) 0.3)", True),
    ],
)
def test_conditions(precondition: str, true: bool) -> None:
    init = "(r) (p a) (p k) (e b a) (= (f) 2) (= (h a) 3)"
    assert verdict([act("go", precondition, "(t)")], init, "(t)", "go") == ("valid" if true else "precondition")
    assert verdict([], init, precondition) == ("valid" if true else "goal_not_reached")


@pytest.mark.parametrize(
    ("precondition", "effect"),
    [
        ("(> (g) 0)", "(t)"),
        ("(not (> (g) 0))", "(t)"),  # What is undefined is not false.
        ("(= (g) (g))", "(t)"),
        ("(> (/ 1 (f)) 0)", "(t)"),
        ("(and)", "(when (> (g) 0) (t))"),
        ("(and)", "(increase (g) 1)"),
        ("(and)", "(assign (f) (g))"),
        ("(and)", "(assign (f) (/ 1 (f)))"),
        ("(and)", "(scale-down (f) 0)"),
    ],
)
def test_undefined_numbers_fail_the_step(precondition: str, effect: str) -> None:
    found = run([act("go", precondition, effect)], "(r) (= (f) 0)", "(and)", "go")
    assert (found.verdict, found.failed_step) == ("precondition", 1)


@pytest.mark.parametrize(
    ("condition", "verdict"), [("(or (r) (> (g) 0))", "valid"), ("(or (t) (> (g) 0))", "precondition")]
)
def test_an_undefined_part_counts_where_the_other_parts_do_not_decide(condition: str, verdict: str) -> None:
    """Kleene's logic. Fox and Long would have the whole formula undefined."""
    found = run([act("go", condition, "(t)")], "(r)", "(and)", "go")
    assert found.verdict == verdict


def test_a_number_can_be_given_later_and_an_undefined_goal_is_not_reached() -> None:
    assert verdict([act("set", "(and)", "(assign (g) 1)")], "", "(= (g) 1)", "set") == "valid"
    assert verdict([], "", "(not (= (g) 1))") == "goal_not_reached"
    assert verdict([act("go", "(and)", "(when (r) (assign (f) (g)))")], "", "(and)", "go") == "valid"  # Not read.


def test_effects_read_the_state_before() -> None:
    swap = act("swap", "(and)", "(and (when (r) (and (s) (not (r)))) (when (s) (and (r) (not (s)))))")
    assert verdict([swap], "(r)", "(and (s) (not (r)))", "swap") == "valid"
    numbers = act("swap", "(and)", "(and (assign (f) (g)) (assign (g) (f)))")
    assert verdict([numbers], "(= (f) 1) (= (g) 2)", "(and (= (f) 2) (= (g) 1))", "swap") == "valid"
    assert verdict([act("go", "(and)", "(and (r) (when (r) (s)))")], "", "(and (r) (not (s)))", "go") == "valid"


def test_deletes_come_before_adds() -> None:
    for effect in ("(and (r) (not (r)))", "(and (not (r)) (r))"):
        assert verdict([act("go", "(and)", effect)], "(r)", "(r)", "go") == "valid"


def test_nested_effects() -> None:
    effect = "(forall (?x - thing) (when (p ?x) (and (q ?x) (forall (?y - other) (when (r) (when (s) (e ?x ?y)))))))"
    rule = act("go", "(and)", effect)
    assert verdict([rule], "(p a) (r) (s)", "(and (q a) (e a c) (not (q b)))", "go") == "valid"
    for half in "rs":
        assert verdict([rule], f"(p a) ({half})", "(and (q a) (not (e a c)))", "go") == "valid"


@pytest.mark.parametrize(
    ("effect", "left"),
    [
        ("(assign (f) 7)", 7),
        ("(increase (f) 0.5)", 6.5),
        ("(decrease (f) 10)", -4),
        ("(scale-up (f) 2)", 12),
        ("(scale-down (f) 4)", 1.5),
        ("(and (increase (f) 1) (decrease (f) 3))", 4),
    ],
)
def test_assignments(effect: str, left: float) -> None:
    found = run([act("go", "(and)", effect)], "(= (f) 6)", "(and)", "go")
    assert found.last_state.numbers["f",] == Fraction(left)


def test_derived_predicates_are_recursive_and_not_stored() -> None:
    rules = ["(:derived (d ?x) (or (p ?x) (exists (?y) (and (e ?y ?x) (d ?y)))))", act("cut", "(d c)", "(not (e a b))")]
    init = "(p a) (e a b) (e b c) (e c b)"
    assert verdict(rules, init, "(and (d a) (d b) (d c) (not (d k)))") == "valid"
    found = run(rules, init, "(and (d a) (not (d b)) (not (d c)))", "cut")  # b and c do not support each other.
    assert found.valid and not any(atom[0] == "d" for atom in found.last_state.atoms)


def test_negation_reads_a_finished_stratum() -> None:
    rules = ["(:derived (q ?x) (not (d ?x)))", "(:derived (d ?x) (or (p ?x) (exists (?y) (and (e ?y ?x) (d ?y)))))"]
    assert verdict(rules, "(p a) (e a b) (e b c)", "(and (q k) (not (q a)) (not (q b)) (not (q c)))") == "valid"
    with pytest.raises(Refused):
        read(domain("(:derived (q ?x) (not (d ?x)))", "(:derived (d ?x) (q ?x))"), "(define (problem x) (:objects a))")


# --- The judge and the program: concurrent steps ---------------------------------------------------------------------

GIVEN = "(r) (= (f) 1) (= (g) 1)"


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (("(and)", "(s)"), ("(and)", "(t)"), "valid"),
        (("(and)", "(s)"), ("(s)", "(t)"), "precondition"),  # Each must be applicable before the step.
        (("(and)", "(not (r))"), ("(r)", "(t)"), "interference"),
        (("(and)", "(r)"), ("(r)", "(t)"), "interference"),  # What is added is changed, also if it was true.
        (("(and)", "(s)"), ("(or (r) (s))", "(t)"), "interference"),
        (("(and)", "(s)"), ("(and)", "(when (s) (t))"), "interference"),
        (("(and)", "(when (s) (not (r)))"), ("(r)", "(t)"), "valid"),  # It does not happen.
        (("(and)", "(s)"), ("(and)", "(not (s))"), "interference"),
        (("(and)", "(s)"), ("(and)", "(s)"), "valid"),
        (("(and)", "(not (r))"), ("(and)", "(not (r))"), "valid"),
        (("(and)", "(p a)"), ("(forall (?x - thing) (not (p ?x)))", "(t)"), "interference"),
        (("(and)", "(p c)"), ("(forall (?x - thing) (not (p ?x)))", "(t)"), "valid"),
        (("(and)", "(increase (f) 1)"), ("(and)", "(decrease (f) 2)"), "valid"),
        (("(and)", "(assign (f) 1)"), ("(and)", "(assign (f) 1)"), "interference"),
        (("(and)", "(assign (f) 1)"), ("(and)", "(increase (f) 1)"), "interference"),
        (("(and)", "(scale-up (f) 2)"), ("(and)", "(increase (f) 1)"), "interference"),
        (("(and)", "(scale-up (f) 2)"), ("(and)", "(assign (f) 1)"), "interference"),
        (("(and)", "(assign (f) 2)"), ("(> (f) 0)", "(t)"), "interference"),
        (("(and)", "(increase (f) 2)"), ("(and)", "(when (> (f) 0) (t))"), "interference"),
        (("(and)", "(increase (f) 2)"), ("(and)", "(assign (g) (f))"), "interference"),  # Fox and Long: it is read.
        (("(and)", "(increase (f) 2)"), ("(and)", "(increase (g) 2)"), "valid"),
        (("(and)", "(p a)"), ("(not (d a))", "(t)"), "interference"),  # (d a) is derived from (p a).
    ],
)
def test_concurrent_actions(one: tuple[str, str], other: tuple[str, str], wanted: str) -> None:
    sections = [act("one", *one), act("other", *other), "(:derived (d ?x) (p ?x))"]
    found = run(sections, GIVEN, "(and)", {"one", "other"})
    assert found.verdict == wanted
    assert found.failed_step == (None if wanted == "valid" else 1)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (("(and)", "(r)"), ("(r)", "(t)"), "valid"),  # It was true before.
        (("(and)", "(and (s) (not (s)))"), ("(and)", "(s)"), "valid"),
        (("(and)", "(and (s) (not (s)))"), ("(and)", "(not (s))"), "interference"),
        (("(and)", "(not (r))"), ("(r)", "(t)"), "interference"),
        (("(and)", "(s)"), ("(and)", "(not (s))"), "interference"),
        (("(and)", "(s)"), ("(s)", "(t)"), "precondition"),
    ],
)
def test_concurrent_actions_in_any_order(one: tuple[str, str], other: tuple[str, str], wanted: str) -> None:
    """The program's rule in domains that have literals only; where PDDL 2.1 is stricter, the test above says so."""
    predicates = "(define (domain d) (:requirements :strips) (:predicates (r) (s) (t))"
    text = f"{predicates} {act('one', *one)} {act('other', *other)})"
    facts = "(define (problem x) (:domain d) (:init (r)) (:goal (and)))"
    step: tuple[Step, ...] = (frozenset({("one",), ("other",)}),)
    found = judge(text, facts, step, any_order=True)
    assert found.verdict == wanted
    assert compared(plan_text(Random(0), step), facts, text, found) == (False, "")


@pytest.mark.parametrize(
    ("effect", "plan", "wanted"),
    [
        ("(r)", "{one(), other()}", "valid"),
        ("(r)", "1: (one)\n1: (other)", "interference"),
        ("(r)", "1: {one(), other()}", "interference"),
        ("(r)", "1: (one)\n2: (other)", "valid"),
        ("(s)", "1: (one)\n1: (other)", "valid"),
    ],
)
def test_at_one_time_nothing_changes_what_another_reads(effect: str, plan: str, wanted: str) -> None:
    """Where a plan has times, as Fox and Long (definition 12) and VAL have it: (r) was true before, too."""
    actions = act("one", "(and)", effect) + act("other", "(r)", "(t)")
    domain = f"(define (domain d) (:requirements :strips) (:predicates (r) (s) (t)) {actions})"
    facts = "(define (problem x) (:domain d) (:init (r)) (:goal (t)))"
    assert validate(plan, facts, domain).verdict == wanted


def test_concurrent_effects_add_up_and_names_come_first() -> None:
    more = act("more", "(and)", "(increase (f) (g))", "?x")
    found = run([more], GIVEN, "(= (f) 4)", {"more a", "more b", "more c"})
    assert (found.valid, found.cost, found.executable_share) == (True, 3, 1)
    assert verdict([more, act("no", "(s)", "(t)")], GIVEN, "(and)", {"no", "no a", "nothing"}) == "unknown_action"
    assert verdict([more, act("no", "(s)", "(t)")], GIVEN, "(and)", {"no", "more"}) == "wrong_arguments"


@pytest.mark.parametrize("effect", ["(and (assign (f) 1) (assign (f) 1))", "(and (scale-up (f) 2) (increase (f) 1))"])
def test_an_action_can_interfere_with_itself(effect: str) -> None:
    assert verdict([act("go", "(and)", effect)], GIVEN, "(and)", "go") == "interference"


# --- The judge and the program: costs and searches -------------------------------------------------------------------

PAY = act("pay", "(p ?x)", "(and (q ?x) (not (p ?x)) (increase (total-cost) (h ?x)))", "?x")


def test_costs() -> None:
    init = "(p a) (p b) (= (h a) 2.5) (= (h b) 0.1)"
    metric = "(:metric minimize (total-cost))"
    assert run([PAY], init, "(q b)", "pay a", "pay b", metric=metric).cost == Fraction(26, 10)
    assert run([PAY], f"{init} (= (total-cost) 5)", "(q b)", "pay b", metric=metric).cost == Fraction(51, 10)
    assert run([PAY], init, "(q b)", "pay a", "pay b").cost == 2
    assert run([PAY], init, "(p b)", "pay a", metric="(:metric maximize (- 10 (* 2 (h a))))").cost == 5
    assert run([PAY], init, "(q k)", "pay a", metric=metric).cost is None


def problem(init: str, goal: str, metric: str = "") -> str:
    return f"(define (problem x) (:domain d) (:objects {OBJECTS}) (:init {init}) (:goal {goal}) {metric})"


def test_all_states() -> None:
    # Each of three objects was paid for or not; the cost so far does not make two states of one.
    costs = "(p a) (p b) (p c) (= (h a) 1) (= (h b) 2) (= (h c) 4)"
    assert len(reachable(domain(PAY), problem(costs, "(and)"))) == 8
    count = act("count", "(< (f) 5)", "(increase (f) 1)")
    assert len(reachable(domain(count), problem("(= (f) 0)", "(and)"))) == 6
    with pytest.raises(TooManyStates):
        reachable(domain(act("count", "(and)", "(increase (f) 1)")), problem("(= (f) 0)", "(and)"), 100)
    states = reachable(domain(GO), problem("(p a)", "(and)"))
    assert [state.atoms for state in states] == [{("p", "a")}, {("q", "a")}]
    assert all(isinstance(state, State) for state in states)


def test_optimal_costs() -> None:
    long = [
        act("one", "(r)", "(and (s) (increase (total-cost) 1))"),
        act("two", "(s)", "(and (t) (increase (total-cost) 1.5))"),
    ]
    short = act("leap", "(r)", "(and (t) (increase (total-cost) 3))")
    text = domain(*long, short)
    assert optimal_cost(text, problem("(r)", "(t)", "(:metric minimize (total-cost))")) == Fraction(5, 2)
    assert optimal_cost(text, problem("(r)", "(t)")) == 1
    assert optimal_cost(text, problem("(r)", "(r)")) == 0
    assert optimal_cost(text, problem("(s)", "(r)")) is None
    with pytest.raises(Refused):
        optimal_cost(text, problem("(r) (= (f) 1)", "(t)", "(:metric maximize (f))"))
    with pytest.raises(Refused):  # The cost so far is a condition: states that differ in it are not one.
        optimal_cost(domain(short, act("rich", "(> (total-cost) 3)", "(s)")), problem("(r)", "(s)"))


def test_no_walk_is_cheaper_than_the_optimum() -> None:
    for number in [at for at, story in enumerate(STORIES) if story.kind in ("typing", "costs", "derived")]:
        case = next(iter(cases(number, seed=8)))
        if "maximize" not in case.problem:
            found = judge(case.story.text, case.problem, case.steps)
            assert optimal_cost(case.story.text, case.problem, 3000) <= found.cost
