"""Repair advice: why a condition does not hold where a plan needs it, and which step made it so. In words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.formulas import UNBOUND, NoValueError, World, bindings, holds, read_by
from pddl_eval.definition.model import (
    QUANTIFIERS,
    Domain,
    Formula,
    Operator,
    Problem,
    is_atom,
    show_atom,
    show_formula,
    show_number,
    words_of,
)
from pddl_eval.definition.pddl import derived_predicates
from pddl_eval.definition.validation import Execution, effects_of

MOST_ADVICE = 10
"""Conditions that are explained."""

START = 0
"""The number of the initial state among the steps, which count from 1."""


def repair_advice(execution: Execution, problem: Problem, domain: Domain, failed: str = "") -> tuple[str, ...]:
    """A sentence on each condition that does not hold, of the step that failed (in words: ``failed``) or of the goal.

    >>> from pddl_eval.definition.validation import execute
    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), frozenset(),
    ...                                          frozenset({("on",)}), frozenset({("off",)})),))
    >>> dark = Problem("p", "d", {}, frozenset({("off",)}), frozenset())
    >>> repair_advice(execute([{("switch",)}] * 2, dark, lamp), dark, lamp, "(switch)")
    ('(off) is false before step 2, (switch): step 1, (switch), deleted it',)
    """
    where = "at the end"
    if execution.failed_step is not None:
        where = f"before step {execution.failed_step}" + (f", {failed}" if failed else "")
    derived = derived_predicates(domain)
    sentences = []
    for condition in execution.missing[:MOST_ADVICE]:
        atom, truth = (condition[1], "true") if condition[0] == "not" else (condition, "false")
        if is_atom(atom):
            why = f"{'a' if truth == 'true' else 'no'} rule derives it"
            why = why if atom[0] in derived else _since(atom, truth == "true", execution)
            sentences.append(f"{show_formula(atom)} is {truth} {where}: {why}")
        else:
            why = _instance(condition, execution, problem, domain)
            why = why or "; ".join(_numbers(condition, execution, problem, domain))
            sentences.append(f"{show_formula(condition)} is false {where}" + (f": {why}" if why else ""))
    return tuple(sentences)


def _since(atom: Formula, is_true: bool, execution: Execution) -> str:
    """Which step made an atom true or false."""
    changed = (effects_of(step)[0 if is_true else 1] for step in execution.steps)
    last = max((number for number, atoms in enumerate(changed, 1) if atom in atoms), default=START)
    verb = "added" if is_true else "deleted"
    if last == START:
        return "it is so from the start" if is_true else "it is not in the initial state, and no step added it"
    return f"step {last}, {_shown(execution.steps[last - 1])}, {verb} it"


def _instance(condition: Formula, execution: Execution, problem: Problem, domain: Domain) -> str:
    """The objects with which a quantified condition is false; empty for others, and past a limit."""
    quantified, truth = (condition[1], True) if condition[0] == "not" else (condition, False)
    if isinstance(quantified, str) or quantified[:1] != ("exists" if truth else "forall",):
        return ""
    _, listing, body = quantified
    with suppress(OutOfBudgetError, NoValueError):
        world = World(problem, domain)
        world.become(execution.state, execution.values)
        for binding in bindings(listing, world, UNBOUND):
            if holds(body, world, binding) is truth:
                return f"for {', '.join(f'{variable} = {name}' for variable, name in binding.items())}"
    return ""


def _numbers(condition: Formula, execution: Execution, problem: Problem, domain: Domain) -> Iterator[str]:
    """The values of the fluents of a condition without quantifiers, and which steps gave them."""
    if not QUANTIFIERS.isdisjoint(words_of(condition)):
        return
    for fluent in sorted({*read_by(condition, World(problem, domain))} & execution.values.keys()):
        last = max((number for number, values in enumerate(execution.updates, 1) if fluent in values), default=START)
        since = "from the start" if last == START else f"since step {last}, {_shown(execution.steps[last - 1])}"
        yield f"{show_atom(fluent)} is {show_number(execution.values[fluent])} {since}"


def _shown(step: Sequence[Operator]) -> str:
    shown = " ".join(show_atom(operator.action) for operator in step)
    return shown if len(step) == 1 else f"{{{shown}}}"
