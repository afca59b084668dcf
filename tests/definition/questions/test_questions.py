"""Keys and judgements of every kind of question, on a tower of blocks and beyond STRIPS."""

from __future__ import annotations

from json import dumps
from time import thread_time

import pytest
from pddl_eval import judge_answer, right_answers
from pddl_eval.definition.metrics import read_answer
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.questions import Question, kinds

BLOCKS = """(define (domain bw) (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
(:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty))
 :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
(:action put-down :parameters (?x) :precondition (holding ?x)
 :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
(:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y))
 :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
(:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (handempty))
 :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))"""
TOWER = """(define (problem p) (:domain bw) (:objects a b c)
(:init (on c a) (ontable a) (ontable b) (clear c) (clear b) (handempty)) (:goal (and (on a b))))"""
PREFIX = "(unstack c a) (put-down c) (pick-up b)"
BROKEN = "(unstack c a) (pick-up b) (put-down c)"
LONG = "(unstack c a) (put-down c) (pick-up b) (put-down b) (pick-up a) (stack a b)"

LIFT = """(define (domain lift) (:types floor) (:constants ground - floor)
(:predicates (at ?f - floor) (stuck ?f - floor) (safe)) (:functions (total-cost) (fuel))
(:derived (safe) (not (exists (?f - floor) (stuck ?f))))
(:action move :parameters (?f ?t - floor) :precondition (and (at ?f) (safe) (not (= ?f ?t)) (>= (fuel) 1))
 :effect (and (at ?t) (not (at ?f)) (decrease (fuel) 1) (increase (total-cost) 2)))
(:action jam :parameters (?f - floor) :precondition (at ?f)
 :effect (forall (?g - floor) (when (at ?g) (stuck ?g)))))"""
RIDE = """(define (problem p) (:domain lift) (:objects one two - floor)
(:init (at ground) (= (fuel) 2) (= (total-cost) 0))
(:goal (and (at two))) (:metric minimize (total-cost)))"""


def judged(question: str, answer: str, plan: str = PREFIX) -> str:
    return judge_answer(question, answer, TOWER, BLOCKS, plan=plan).verdict.value


@pytest.mark.parametrize("kind", sorted(kinds()))
@pytest.mark.parametrize("task", [(TOWER, BLOCKS, LONG), (TOWER, BLOCKS, PREFIX), (RIDE, LIFT, "(move ground one)")])
def test_a_right_answer_is_judged_right(kind: str, task: tuple[str, str, str]) -> None:
    problem, domain, plan = task
    text = right_answers(kind, problem, domain, plan=plan).text
    assert text is not None
    verdict = judge_answer(kind, text, problem, domain, plan=plan)
    assert (verdict.correct, verdict.precision, verdict.recall) == (True, 1.0, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        "(holding b) (clear a) (clear c) (ontable a) (ontable c)",
        "I pick up b: (pick-up b) deletes (ontable b).\n\n**Final state:**\n- (holding b)\n- (clear a)\n- clear(c)\n"
        "- (ontable a)\n- ontable c",
        "The state: [holding b, clear a, clear c, ontable a, ontable c]",
        '["holding b", "clear a", "clear c", "ontable a", "ontable c"]',
        '[["holding", "b"], ["clear", "a"], ["clear", "c"], ["ontable", "a"], ["ontable", "c"]]',
        '```json\n{"state": ["holding(b)", "clear(a)", "clear(c)", "ontable(a)", "ontable(c)", "not handempty"]}\n```',
        "The true facts are (holding b), (clear a), (clear c), (ontable a) and (ontable c).",
        "<think>(ontable b)?</think>holding(b), clear(a), clear(c), ontable(a), ontable(c), not handempty()<|im_end|>",
        '[{"name": "holding", "args": ["b"]}, {"name": "clear", "args": ["a"]}, {"name": "clear", "args": ["c"]},'
        ' {"name": "ontable", "args": ["a"]}, {"name": "ontable", "args": ["c"]}]',
        "(HOLDING B)\n(Clear A)\n(Clear C)\n(ontable a)\n(ontable c)\n(clear b) is false",
        "(and (holding b) (clear a) (clear c)\n  (ontable a) (ontable c))",
        "(:init (holding b) (clear a) (clear c) (ontable a) (ontable c))",
    ],
)
def test_a_state_is_read_in_every_notation(said: str) -> None:
    assert judged("state", said) == "right"


@pytest.mark.parametrize(
    ("said", "verdict", "precision", "recall"),
    [
        ("(holding b)", "incomplete", 1.0, 0.2),
        ("[holding b, clear a, clear c, ontable a, c]", "wrong", 0.8, 0.8),
        ("(holding b) (clear a) (clear c) (ontable a) (ontable c) (sky a)", "too_much", 5 / 6, 1.0),
        ("(holding b) (clear a) (clear c) (ontable a) (ontable c a)", "wrong", 0.8, 0.8),
        ("(holding b) (clear a) (clear c) (ontable a) (ontable c", "wrong", 0.8, 0.8),
        ("(holding b) (clear a) (clear c) (ontable a) (ontable c) (not (clear a))", "too_much", 5 / 6, 1.0),
        ("(holding b) (clear a) (clear c) (ontable a) (ontable c)\n(not)", "too_much", 5 / 6, 1.0),
        ("none", "incomplete", 1.0, 0.0),
        ("I do not know.", "unreadable", 0.0, 0.0),
        ("<think>(holding b)</think>", "empty", 0.0, 0.0),
    ],
)
def test_what_is_wrong_in_a_state(said: str, verdict: str, precision: float, recall: float) -> None:
    found = judge_answer("state", said, TOWER, BLOCKS, plan=PREFIX)
    assert (found.verdict.value, found.correct) == (verdict, False)
    assert (found.precision, found.recall) == (pytest.approx(precision), pytest.approx(recall))


def test_the_first_wrong_atom_is_named_with_what_deleted_it() -> None:
    found = judge_answer("state", "(ontable b)", TOWER, BLOCKS, plan=PREFIX)
    assert found.detail == "(ontable b) is not true after step 3: (pick-up b) deleted it"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("1. stack b a\n2. stack b c\n3. put-down b", "right"),
        ("['(stack b a)', '(stack b c)', '(put-down b)']", "right"),
        ("Since (holding b) is true, the applicable actions are: (put-down b), (stack b a), (stack b c)", "right"),
        ("(pick-up a) is not. Answer: (put-down b), (stack b a), (stack b c)", "right"),
        ("(put-down b) (stack b a) (stack b c) (fly b)", "too_much"),
        ("(put-down b)", "incomplete"),
        ("(put-down b) (pick-up a)", "wrong"),
        ("There are no applicable actions.", "incomplete"),
        ("- action: put-down\n  args: [b]\n- action: stack\n  args: [b, a]\n- action: stack\n  args: [b, c]", "right"),
        ("|Action|Arguments|\n|-|-|\n|put-down|b|\n|stack|b, a|\n|stack|b, c|", "right"),
        ("|Action|Arguments|\n|-|-|\n|put-down|b|\n|stack|b, a|\n|stack|a, c|", "wrong"),
        ("Action: put-down\nArguments: b", "incomplete"),
    ],
)
def test_applicable(said: str, verdict: str) -> None:
    assert judged("applicable", said) == verdict


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Positive effects: (holding b)\nNegative effects: (ontable b), (clear b), (handempty)", "right"),
        ("[(holding b)] [(ontable b) (clear b) (handempty)]", "right"),
        ("(holding b) (not (ontable b)) (not (clear b)) (not (handempty))", "right"),
        ("(holding b)\n(not ontable b)\n(not clear b)\n(not handempty)", "right"),
        ('{"positive_effects": ["(holding b)"], "neg": ["(ontable b)", "(clear b)", "(handempty)"]}', "right"),
        ("**Becomes true:**\n- (holding b)\n\n**Becomes false:**\n- (ontable b)\n- (clear b)\n- (handempty)", "right"),
        ("positive effects: (holding b)\nnegative effects: none", "incomplete"),
        ("True: holding(b). False: ontable(b), clear(b), handempty()", "right"),
        ("+ (holding b)\n- (ontable b)\n- (clear b)\n- (handempty)", "right"),
        ("+(holding b), -(ontable b), -(clear b), -(handempty)", "right"),
        ("- (holding b): true\n- (ontable b): false\n- (clear b): false\n- (handempty): false", "right"),
        ("|Atom|Now|\n|-|-|\n|(holding b)|true|\n|(ontable b)|false|\n|(clear b)|false|\n|(handempty)|false|", "right"),
        ("+(ontable b), -(holding b), -(clear b), -(handempty)", "wrong"),
        ("So (holding b) becomes true; (ontable b), (clear b) and (handempty) become false.", "right"),
        ("So (ontable b) becomes true; (holding b), (clear b) and (handempty) become false.", "wrong"),
        ("These become true: (holding b). These become false: (ontable b), (clear b), (handempty)", "right"),
        ("It makes (holding b) true and (ontable b), (clear b), (handempty) false.", "right"),
        ("(holding b) is now true. (ontable b), (clear b), (handempty) are no longer true.", "right"),
        ("- (holding b): becomes true\n- (ontable b): becomes false\n- (clear b), (handempty) become false", "right"),
    ],
)
def test_progression(said: str, verdict: str) -> None:
    assert judged("progression", said) == verdict


STATES = (
    "(holding c) (clear a) (clear b) (ontable a) (ontable b)",
    "(clear c) (clear a) (clear b) (ontable a) (ontable b) (ontable c) (handempty)",
    "(holding b) (clear a) (clear c) (ontable a) (ontable c)",
)


@pytest.mark.parametrize(
    ("said", "verdict", "step"),
    [
        ("\n".join(f"Step {number}: {state}" for number, state in enumerate(STATES, 1)), "right", None),
        ("\n".join(f"- After step {number}, {state}" for number, state in enumerate(STATES, 1)), "right", None),
        ("Initial state: (on c a)", "wrong", 0),
        ("\n\n".join(f"After {name}:\n{state}" for name, state in zip(("(unstack c a)", "(put-down c)", "(pick-up b)"), STATES, strict=True)), "right", None),  # noqa: E501
        ("\n".join(STATES), "right", None),
        (f"So:\n{dumps([state.replace(') (', ')|(').split('|') for state in STATES])}\nDone.", "right", None),
        ("\n".join(STATES[:2]), "incomplete", 3),
        (f"Step 1: {STATES[0]}\nStep 2: {STATES[2]}\nStep 3: {STATES[2]}", "wrong", 2),
        ("\n".join([*STATES, STATES[0], STATES[0]]), "wrong", 0),
        ("Hm.", "unreadable", None),
    ],
)  # fmt: skip
def test_trace(said: str, verdict: str, step: int | None) -> None:
    found = judge_answer("trace", said, TOWER, BLOCKS, plan=PREFIX)
    assert (found.verdict.value, found.first_wrong_step) == (verdict, step)


def test_a_quoted_list_keeps_its_heading() -> None:
    said = f"Step 1: {STATES[0].replace(') (', ')|(').split('|')}"
    assert judge_answer("trace", said, TOWER, BLOCKS, plan="(unstack c a)").correct


@pytest.mark.parametrize(
    "said",
    [
        "1",
        "the second action",
        "Step 1",
        "(pick-up b)",
        "index 1",
        "The first inapplicable action is at index 1.",
        "The second action, (pick-up b), cannot be executed.",
        "action 2: (pick-up b)",
        "1. (unstack c a): done.\n2. (pick-up b): no.\nThe first action that cannot be executed is action 2 (index 1).",
        "The 1st action is executable, the 2nd action is not.",
        "0 is fine. Final answer: 1",
    ],
)
def test_executability(said: str) -> None:
    assert judged("executability", said, BROKEN) == "right"
    assert judged("executability", said) == "wrong"


@pytest.mark.parametrize("said", ["None", "-1", "All actions are applicable.", "There is no such action."])
def test_executability_of_all_steps(said: str) -> None:
    assert judged("executability", said) == "right"
    assert judged("executability", said, BROKEN) == "wrong"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("No", "right"),
        ("The plan is invalid. Step 2 needs (handempty).", "right"),
        ("No, it is not valid because (handempty) is not true before step 2: (pick-up b)", "right"),
        ('{"valid": false, "step": 2}', "right"),
        ("no: step 3 fails", "wrong"),
        ("no: (clear b)", "wrong"),
        ("The plan is valid.", "wrong"),
        ("It isn't valid.", "right"),
        ("The plan does not achieve the goal.", "right"),
        ("All goals are reached: the plan achieves the goal.", "wrong"),
        ("It is correct, no step fails.", "wrong"),
        ("Hm.", "unreadable"),
    ],
)
def test_validity(said: str, verdict: str) -> None:
    assert judged("validity", said, BROKEN) == verdict


@pytest.mark.parametrize(
    ("condition", "right"), [("(lit a)", True), ("(locked a)", True), ("(wired a a)", True), ("(dark a)", False)]
)
def test_any_unmet_condition_of_the_step_is_one(condition: str, right: bool) -> None:
    """A step lacks an atom, has one that must be false, and once repeats an object: the validator tells one."""
    domain = """(define (domain d) (:requirements :adl) (:predicates (lit ?x) (locked ?x) (dark ?x) (burnt ?x)
        (wired ?x ?y))
      (:action join :parameters (?x ?y) :precondition (and (lit ?x) (not (locked ?x)) (dark ?y) (not (= ?x ?y))
        (or (wired ?x ?y) (wired ?y ?x)) (not (and (dark ?x) (burnt ?x)))) :effect (lit ?y)))"""
    problem = "(define (problem p) (:domain d) (:objects a b) (:init (dark a) (locked a)) (:goal (lit b)))"
    for plan in ("(join a a)", "(join a b)"):
        said = condition.replace("a a", plan[6:9])
        found = judge_answer("validity", f"No: step 1, {said}.", problem, domain, plan=plan)
        assert found.correct is right, (plan, found.detail)


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("unreachable_atom", ["(on a a)", "(on a a), on(b, b)"], ["(holding c)", "none", "(on a d)", "(on a a) (clear a)"]),  # noqa: E501
        ("unreachable_action", ["(stack a a)"], ["stack(a, b)", "none", "(fly a)"]),
        ("landmark", ["(holding c)", "(clear a)"], ["(clear c)", "(on c b)", "(on a b)", "none"]),
        ("next_action", ["(unstack c a)"], ["(pick-up b)", "(stack a b)", "none"]),
    ],
)  # fmt: skip
def test_one_of_several_right_answers(kind: str, right: list[str], wrong: list[str]) -> None:
    assert [judged(kind, said, "") for said in right] == ["right"] * len(right)
    assert [judged(kind, said, "") for said in wrong] == ["wrong"] * len(wrong)


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("The cheapest plan is:\n1. (unstack c a)\n2. (put-down c)\n3. (pick-up a)", "right"),
        ("**Plan**\n\n1. unstack(c, a)\n2. put-down(c)", "right"),
        ('{"plan": ["(unstack c a)", "(put-down c)"]}', "right"),
        ("First (unstack c a), and then put-down(c).", "right"),
        ("(unstack c a) -> (put-down c) -> (pick-up a)", "right"),
        ("**Next action:** (unstack c a)\n\nFull plan: (unstack c a), (put-down c), (pick-up a)", "right"),
        ("Next action: (pick-up b)\n\nFull plan: (unstack c a), (put-down c)", "wrong"),
        ("Step 1: (unstack c a)\nStep 2: (put-down c)", "right"),
        ("It is (unstack c a), which is followed by (put-down c).", "right"),
        ("Don't do (pick-up b). Do (unstack c a).", "right"),
        ("The plan is: (pick-up b) (unstack c a)", "wrong"),
        ("(unstack c a)\n(put-down c)", "wrong"),  # Nothing says that they are no alternatives.
        ("In every cheapest plan the next action is (unstack c a) or (pick-up b)", "wrong"),
        ("I would not do (pick-up b); rather (unstack c a)", "right"),
        ("Not (unstack c a) but (pick-up b).", "wrong"),
        ("(unstack c a) instead of (pick-up b)", "right"),
        ("not (pick-up b)", "wrong"),
        ('["unstack", "c", "a"]', "right"),
        ('{"action": ["unstack", "c", "a"]}', "right"),
        ('["unstack", "c"]', "wrong"),
    ],
)  # fmt: skip
def test_the_first_action_of_a_plan_is_the_next(said: str, verdict: str) -> None:
    assert judged("next_action", said, "") == verdict


@pytest.mark.parametrize(
    ("kind", "said", "verdict"),
    [
        ("unreachable_atom", '["on", "a", "a"]', "right"),
        ("unreachable_atom", '["on", "a", "b"]', "wrong"),
        ("landmark", '["clear", "a"]', "right"),
        ("landmark", "(holding c), not (clear c)", "right"),
        ("state", '["on", "c", "a"]', "incomplete"),
        ("state", '["clear", "arm-empty"]', "wrong"),  # No block is named so: two elements.
    ],
)
def test_a_list_of_words_is_one_element(kind: str, said: str, verdict: str) -> None:
    assert judged(kind, said, "") == verdict


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("(unstack c a) (put-down c) (pick-up a) (stack a b)", "right"),
        ("Remove (pick-up b) and (put-down b).", "right"),
        ('{"removed": ["(pick-up b)", "(put-down b)"]}', "right"),
        ("(pick-up b) and (put-down b) are redundant. Resulting plan:\n(unstack c a)\n(put-down c)\n(pick-up a)\n"
         "(stack a b)", "right"),
        ("(pick-up b) (put-down b)", "wrong"),
        ("Remove (pick-up b).", "wrong"),
        ("None", "wrong"),
        (LONG, "wrong"),
    ],
)  # fmt: skip
def test_justification(said: str, verdict: str) -> None:
    assert judged("justification", said, LONG) == verdict


def test_none_is_right_where_nothing_can_be_left_out() -> None:
    assert judged("justification", "none", "(unstack c a) (put-down c) (pick-up a) (stack a b)") == "right"


def test_a_step_that_is_no_action_is_left_out_or_not() -> None:
    plan = f"{LONG}\n(clear a)"
    assert judged("justification", LONG, plan) == "right"
    assert judged("justification", plan, plan) == "wrong"  # An atom's name is no prose where the plan has it.


@pytest.mark.parametrize("kind", sorted(kinds().keys() - {"executability", "validity", "justification"}))
def test_a_prefix_that_cannot_be_executed_is_a_mistake_in_the_data(kind: str) -> None:
    found = judge_answer(kind, "(clear a)", TOWER, BLOCKS, plan=BROKEN)
    assert (found.verdict.value, found.correct) == ("reference_invalid", None)


def test_conjuncts_of_a_quantified_goal_are_no_landmarks() -> None:
    wash = """(define (domain wash) (:predicates (clean ?x) (wet ?x))
      (:action rub :parameters (?x) :precondition (wet ?x) :effect (clean ?x))
      (:action pour :parameters (?x) :effect (wet ?x)))"""
    all_clean = "(define (problem p) (:domain wash) (:objects a) (:init) (:goal (forall (?x) (clean ?x))))"
    assert right_answers("landmark", all_clean, wash).elements == {("wet", "a")}
    assert judge_answer("landmark", "(clean a)", all_clean, wash).detail == "(clean a) is in the goal"


def test_beyond_strips() -> None:
    def elements(kind: str, plan: str = "(move ground one)") -> object:
        return right_answers(kind, RIDE, LIFT, plan=plan).elements

    assert elements("applicable") == {("move", "one", "two"), ("move", "one", "ground"), ("jam", "one")}
    assert elements("applicable", "(move ground one) (move one two)") == {("jam", "two")}  # no fuel
    assert elements("state") == {("at", "one"), ("safe",)}
    assert elements("progression", "(jam ground)") == {("stuck", "ground"), ("not", ("safe",))}
    assert elements("next_action") == {("move", "one", "two")}
    assert elements("landmark", "") == frozenset()
    assert elements("unreachable_action", "(move ground one) (move one two)") == {
        *(("move", start, end) for start in ("ground", "one", "two") for end in ("ground", "one", "two")),
        *(("jam", floor) for floor in ("ground", "one")),
    }
    assert elements("unreachable_atom", "(move ground one) (move one two)") == {
        *((name, floor) for name in ("at", "stuck") for floor in ("ground", "one"))
    }


HOSTILE = ["(", "[", "not ", "(on a b) ", "{", "step 1 ", "a", "(not ", "- ", "first ", "\n[", "none ", "1. ", "valid "]


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("kind", ["state", "trace", "executability", "validity", "progression", "justification"])
def test_hostile_answers_end(kind: str, part: str) -> None:
    said = part * (40_000 // len(part))
    begin = thread_time()
    assert judge_answer(kind, said, TOWER, BLOCKS, plan=PREFIX).verdict.value != "undecided"
    assert thread_time() - begin < 4


def test_lists_with_and_without_brackets() -> None:
    said = "Positive effects: (holding b)\nNegative effects: []"
    assert judge_answer("progression", said, TOWER, BLOCKS, plan=PREFIX).recall == 0.25
    said = "Positive effects: []\nNegative effects: (ontable b), (clear b), (handempty)"
    assert judge_answer("progression", said, TOWER, BLOCKS, plan=PREFIX).verdict.value == "incomplete"


@pytest.mark.parametrize(
    "said", ["(at car l)\n(docked r)\n(empty)", "[at car l, docked r, empty]", "at(car, l), docked(r), empty()"]
)
def test_an_atom_may_have_a_name_that_says_nothing(said: str) -> None:
    ferry = """(define (domain ferry) (:predicates (at ?c ?p) (docked ?p) (empty))
      (:action wreck :parameters (?p) :precondition (docked ?p) :effect (not (docked ?p))))"""
    problem = """(define (problem p) (:domain ferry) (:objects car l r) (:init (at car l) (docked r) (empty))
      (:goal (not (docked r))))"""
    assert judge_answer("state", said, problem, ferry).correct


def test_what_was_enumerated_is_enumerated_again_once_it_is_forgotten() -> None:
    lamp = """(define (domain d) (:predicates (on) (off) (lit))
      (:action press :effect (and (when (off) (on)) (not (off)))) (:action blow :precondition (or (on) (lit))))"""
    row = {"question": "unreachable_action", "generated_answer": "none", "domain": lamp}
    row["reference_problem"] = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))"
    asked = read_answer(row, ScoringOptions()).question
    assert isinstance(asked, Question)
    assert asked.is_enumerated
    assert kinds()["unreachable_action"].key(asked).none_is_right


@pytest.mark.parametrize("plan", ["(press)", "(noop) (press)"])
def test_a_key_that_leaves_out_all_steps_is_right(plan: str) -> None:
    lamp = "(define (domain d) (:action press :precondition (off) :effect (and (on) (not (off)))))"
    idle = "(define (problem p) (:domain d) (:init (off)) (:goal (off)))"
    key = right_answers("justification", idle, lamp, plan=plan)
    assert judge_answer("justification", key.text, idle, lamp, plan=plan).correct


TOLLS = """(define (domain tolls) (:predicates (at ?x) (road ?x ?y)) (:functions (total-cost) (toll ?x ?y))
(:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
  :effect (and (at ?y) (not (at ?x)) (increase (total-cost) (toll ?x ?y)))))"""
"""A grid of one-way roads that begins and ends with one road; a road without a toll cannot be taken."""


def toll_roads(size: int, without: tuple[str, str] = ("", "")) -> str:
    places = [(x, y) for x in range(size) for y in range(size)]
    roads = [(f"p{x}-{y}", f"p{x + dx}-{y + dy}") for x, y in places for dx, dy in ((1, 0), (0, 1))]
    roads = [("start", "p0-0"), *(road for road in roads if int(road[1][1:].split("-")[0]) < size)]
    roads = [road for road in roads if road[1].split("-")[1] != str(size)] + [(f"p{size - 1}-{size - 1}", "end")]
    tolls = " ".join(f"(= (toll {one} {other}) 2)" for one, other in roads if (one, other) != without)
    names = sorted({name for road in roads for name in road})
    return f"""(define (problem p) (:domain tolls) (:objects {" ".join(names)})
      (:goal (at end)) (:metric minimize (total-cost))
      (:init (at start) {" ".join(f"(road {one} {other})" for one, other in roads)} {tolls}))"""


@pytest.mark.parametrize("size", [3, 12])
def test_what_can_be_reached_and_has_to_be_passed_does_not_depend_on_costs(size: int) -> None:
    asked = (toll_roads(size), TOLLS)
    assert judge_answer("landmark", "(at p0-0)", *asked).correct is True
    assert judge_answer("landmark", "(at p1-0)", *asked).correct is False
    assert judge_answer("unreachable_action", "(go end start)", *asked).correct is True
    assert judge_answer("unreachable_atom", "(at end)", *asked).correct is False
    last = f"p{size - 1}-{size - 1}"
    closed = toll_roads(size, without=(last, "end"))
    assert judge_answer("unreachable_atom", "(at end)", closed, TOLLS).correct is True
    assert judge_answer("unreachable_action", f"(go {last} end)", closed, TOLLS).correct is True
