"""The kernel's lists of states against the definition's: the same states and steps in the same order."""

from __future__ import annotations

import pytest
from pddl_eval.definition import state_space
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.state_space import StateSpace, too_many_states, too_much_work
from pddl_eval.definition.task import Task, task_of
from pddl_eval.definition.validation import without_costs
from pddl_eval.kernel import library, states
from pddl_eval.kernel.states import ListedSpace, by_kernel
from pddl_eval.scoring.budget import row_budget

from tests.corpus import CORPUS
from tests.judges.pairs import pair

pytestmark = pytest.mark.skipif(library() is None, reason="no kernel")


def both(task: Task) -> tuple[ListedSpace, StateSpace]:
    """The states of a task by the kernel and by the definition, all found."""
    assert task.domain is not None
    domain = without_costs(task.problem, task.domain.domain)
    spaces = ListedSpace(task.problem, domain), StateSpace(task.problem, domain)
    assert [*spaces[0].judged(task.problem)] == [*spaces[1].judged(task.problem)]
    return spaces


def steps(space: StateSpace) -> list[object]:
    return [
        (after, [(operator.action, updates, before) for operator, updates, before in into])
        for after, into in space.into.items()
    ]


@pytest.mark.parametrize("name", CORPUS)
def test_states_and_steps_of_a_domain(name: str) -> None:
    """Quantified and conditional effects, negation, costs, derived predicates."""
    listed, expected = both(task_of(CORPUS[name].problem, CORPUS[name].domain))
    assert listed._listed is not None
    assert steps(listed) == steps(expected)
    assert listed.limit == expected.limit


def test_states_of_random_problems() -> None:
    """Goals with formulas are judged, too; where numbers decide what can be done, the definition lists."""
    by_the_kernel = 0
    for number in range(0, 300, 7):
        drawn = pair(number, 7)
        listed, expected = both(task_of(drawn.generated, drawn.story.text))
        assert steps(listed) == steps(expected), number
        by_the_kernel += listed._listed is not None
    assert 25 < by_the_kernel < 43


def lamps(count: int) -> ListedSpace:
    """Lamps that can be lit one by one: two to that power are the states."""
    text = "(define (domain d) (:action switch :parameters (?l) :effect (when (not (lit ?l)) (lit ?l))))"
    problem = Problem("p", "d", {f"l{number}": "object" for number in range(count)}, frozenset(), frozenset())
    return ListedSpace(problem, parse_domain(text))


def test_limits_are_known_before_the_states_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len([*lamps(14)]) == 2**14
    assert lamps(15).known_limit == too_many_states()
    space = lamps(15)
    assert len([*space]) == 20_000
    assert space.limit == too_many_states()
    monkeypatch.setattr(state_space, "MOST_WORK", 1000)
    space = lamps(9)
    assert len([*space]) < 2**9
    assert space.limit == too_much_work()


def test_what_has_too_many_parts_is_the_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_PARTS", 10)
    space = lamps(4)
    assert len([*space]) == 2**4
    assert space._listed is None


def test_conditions_that_multiply_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large condition around many effects stands before each of them."""
    every = " ".join(f"(p{number} ?x)" for number in range(100))
    effect = f"(forall (?x) (when (or {every}) (forall (?y) (when (q ?y) (p0 ?y)))))"
    others = f"(:action b :parameters (?x) :effect (and (q ?x) {every}))"
    domain = parse_domain(f"(define (domain d) (:action a :effect {effect}) {others})")
    objects = {f"o{number}": "object" for number in range(50)}
    space = ListedSpace(Problem("p", "d", objects, frozenset(), frozenset()), domain)
    monkeypatch.setattr(states, "MOST_PARTS", 100_000)
    assert space._listed is None


def test_many_goals_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_PARTS", 200)
    space = lamps(4)
    for number in range(16):
        goal = (":goal", ("or", ("lit", f"l{number % 4}"), ("not", ("lit", "l0"))))
        problem = Problem("p", "d", {}, frozenset(), frozenset(), formulas=(goal,))
        found = [has_goal for _, _, has_goal in space.judged(problem)]
        assert found.count(True) == (16 if number % 4 == 0 else 12)


def test_an_operator_that_needs_what_is_never_true_is_never_taken() -> None:
    effect = "(forall (?l) (when (broken ?l) (lit ?l)))"
    domain = parse_domain(
        f"(define (domain d) (:action a :precondition (lit k) :effect {effect}) (:action b :effect (broken k)))"
    )
    problem = Problem("p", "d", {"k": "object", "l": "object"}, frozenset({("broken", "l")}), frozenset())
    listed = ListedSpace(problem, domain)
    assert [sorted(atoms) for atoms, _ in listed] == [[("broken", "l")], [("broken", "k"), ("broken", "l")]]


def test_who_lists_the_states() -> None:
    """With little time, where limits that are counts may be late, and for all else, it is the definition."""
    task = task_of(CORPUS["lift-adl"].problem, CORPUS["lift-adl"].domain)
    assert task.domain is not None
    for seconds, kind in ((10, ListedSpace), (0.5, StateSpace)):
        with row_budget(seconds):
            assert type(state_space.state_space(task.problem, task.domain.domain)) is kind
    assert by_kernel(lambda compute, *asked: compute(*asked))(max, 3, 4) == 4
