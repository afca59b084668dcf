"""Sentences: what differs between two problems, domains or plans, and why one cannot be read, solved or executed.

A difference is a kind with typed fields, the same whether the definition or the kernel finds it. Each function here
says one kind: its name is the kind, its parameters are the fields. Most are a template. ``difference`` and
``domain_difference`` find differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from inspect import isfunction
from string import Formatter
from typing import Any

from pddl_eval.definition.model import (
    Action,
    Atom,
    Formula,
    Types,
    no_such_predicate,
    show_atom,
    show_formula,
    show_number,
    wrong_number_of_arguments,
    wrong_type,
)
from pddl_eval.definition.verdict import OUTSIDE_STRIPS, SEVERAL_DRAFTS
from pddl_eval.shown import line, listed, quote

MOST_NAMES = 5
"""Operators that a sentence names."""

SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
"""The keywords of a problem's sections in their order."""

NEVER_CLOSED = "has a parenthesis that is never closed"


def _says(template: str) -> Callable[..., str]:
    """The function that says a kind by a template: its parameters are the template's fields."""
    names = list(dict.fromkeys(name.partition("[")[0] for _, name, *_ in Formatter().parse(template) if name))

    def said(*values: Any, **fields: Any) -> str:
        fields |= zip(names, values, strict=False)
        if fields.keys() != {*names} or len(values) > len(names):
            raise TypeError(f"{template} takes {names}")
        return template.format(**fields)

    return said


# --- Two problems


identical = _says("the same atoms")
renamed = _says("the same atoms after renaming objects")


def closures_agree(found: int, expected: int) -> str:
    """How many atoms full specification added to each goal."""
    added = f"{found} implied atom{'' if found == 1 else 's'} added to the answer's, {expected} to the reference's"
    return f"the goals agree once fully specified: {added}"


goal_states_agree = _says("the goals hold in the same reachable states")
"""Goals that are no sets of atoms were compared."""

goal_states_differ = _says("the goals hold in different reachable states")
unread = _says("{reason}")
"""Why there is no generated problem."""

no_reference = _says("not compared: there is no reference")
"""Nothing is wrong with the problem, but there is nothing to compare it with."""

undecided = _says("{reason}")
"""Which limit was hit."""

reference_unread = _says("the reference cannot be read: {reason}")
reference_outside = _says(f"{OUTSIDE_STRIPS}: {{reason}}")
reference_ill_typed = _says("in the reference, {reason}")


def reference_unsolvable(reason: str, names: Sequence[str] = (), found: int = 0) -> str:
    """Why; ``names`` are the known domain and the first of the ``found`` predicates that it does not have."""
    said = f"the reference has no solution: {reason}"
    if not names:
        return said
    domain, *unknown = names
    named = f"predicate{'s' if found > 1 else ''} {_some(unknown, found)}"
    return f"{said}; {domain} has no {named} here: if the problem is of another version, give its PDDL (--domain FILE)"


domain = _says("the domain is {names[0]} instead of {names[1]}")
"""The generated problem's domain and the reference's."""


def object_count(found: int, expected: int, names: Sequence[str] = ()) -> str:
    """``names`` are the first missing or extra objects, if names tell."""
    kind = "missing" if found < expected else "extra"
    tail = f"; {kind}: {_some(names, abs(found - expected))}" if names else ""
    return f"{found} objects instead of {expected}{tail}"


object_type = _says("{names[0]} has type {names[1]} instead of {names[2]}")
"""An object, its type, and the reference's type for it."""

type_count = _says("{found} objects of type {names[0]} instead of {expected}")
"""``names`` is a type."""


def init(lacks: Formula = (), lacks_here: Formula = (), has: Formula = ()) -> str:
    """The first atoms or timed literals that only one of the initial states has.

    ``lacks_here`` is in the words of the generated problem.
    """
    parts = [f"lacks {_in_both_words(lacks, lacks_here)}"] if lacks else []
    parts += [f"has {show_formula(has)}, which is not in the reference"] if has else []
    return f"the initial state {' and '.join(parts)}" if parts else "the initial states differ"


def value(names: Sequence[str], lacks: Atom = (), lacks_here: Atom = (), has: Atom = ()) -> str:
    """A fluent, or ``has``, which only the generated problem has; its values in both, empty where there is none."""
    if has:
        return f"{show_formula(has)} is {names[0]}, and has no value in the reference"
    fluent = _in_both_words(lacks, lacks_here)
    if not names[0]:
        return f"{fluent} has no value; in the reference it is {names[1]}"
    return f"{fluent} is {names[0]} instead of {names[1]}"


def metric(names: Sequence[str]) -> str:
    """The metrics of the generated problem and of the reference, empty where there is none."""
    if "" not in names:
        return f"the metric is {names[0]} instead of {names[1]}"
    ours = f"the metric is {names[0]}" if names[0] else "there is no metric"
    return f"{ours}; the reference's is {names[1]}" if names[1] else f"{ours}; the reference has none"


unsolvable = _says("the goal is out of reach: {reason}")


def goal(lacks: Formula = (), lacks_here: Formula = (), has: Formula = ()) -> str:
    """A conjunct of one goal that the other does not imply."""
    if has:
        return f"the goal asks for {show_formula(has)}, which the reference's goal does not imply"
    return f"the goal does not imply {_in_both_words(lacks, lacks_here)}, which the reference asks for"


goal_placement = _says("the goals place the objects of the initial state differently")
"""No one atom tells."""


def _in_both_words(theirs: Formula, ours: Formula) -> str:
    """The reference's atom in the answer's words, and in the reference's where the two differ."""
    here, there = map(show_formula, (ours, theirs))
    return here if here == there else f"{here} (the reference's {there})"


def _some(names: Sequence[str], count: int) -> str:
    """The names, which are the first of that many."""
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(names) + more


# --- Why a goal is out of reach


def never_true(atoms: Iterable[Atom]) -> str:
    return f"{_all(atoms)} is not true initially and no operator can make it true"


def exclude_each_other(atoms: Sequence[Atom]) -> str:
    return f"{_all(atoms)} {'are never true together' if len(atoms) > 1 else 'is never true'}"


def never_added(atom: Atom) -> str:
    """An atom of a goal that is false in every reachable state."""
    return f"{show_atom(atom)} is not true initially and no applicable operator adds it"


excluded = _says("no reachable state has the goal's atoms together: invariants exclude it")
each_way = _says("no reachable state has the goal's atoms together: each way to the last is excluded")
out_of_reach = _says("the goal is out of reach even if nothing is ever deleted")
ran_out = _says("the search for the goal ran out after {states:,} states")
"""What a search that visited all states proves."""

no_state = _says("none of the {states:,} reachable states contains the goal")
"""What an enumeration of all reachable states proves."""


# --- What the declarations of a typed domain do not admit


def of_atom(atom: Formula, why: str) -> str:
    return f"{show_formula(atom)}: {why}"


in_operator = _says("operator {name}: {why}")
ill_typed_problem = _says("the problem is ill-typed: {why}")
ill_typed_domain = _says("the {side} domain is ill-typed: {why}")
"""The ``reference`` or the ``generated`` domain."""


# --- Why a text holds no problem, domain or plan


drafts = _says(f"{SEVERAL_DRAFTS}, the {{answer}} was read")
"""Which of several drafts was read, the first or the last."""

empty_text = _says("the text is empty")
only_thoughts = _says("there are only thoughts")
no_block = _says("no `(define (problem …` found")
never_closed = _says("the block at line {line} is never closed: a parenthesis is missing, or the answer is cut off")


def unexpected(found: str, expected: str) -> str:
    """Something else than what the grammar expects.

    >>> unexpected("q", "a formula in the goal")
    'expected a formula in the goal, found `q`'
    """
    return f"expected {expected}, found {quote(found)}"


def no_section(found: str, possible: Sequence[str]) -> str:
    """Neither of these sections, nor any other."""
    return unexpected(found, " or ".join(f"`({section} …)`" for section in possible))


def section(found: str, possible: Sequence[str]) -> str:
    """No section where the last of these has to come."""
    return unexpected(found, f"`({possible[-1]} …)`")


def section_order(found: str, possible: Sequence[str]) -> str:
    """A section where another one has to come."""
    return unexpected(found, f"`({possible[-1]} …)` (the order is {', '.join(SECTIONS)})")


no_requirement = _says("`(:requirements)` is empty: name one or leave the section out")


def requirement(word: str) -> str:
    return f"{quote(word)} is not a requirement"


either = _says("`(either …)` in :objects: an object has one type")
typed_list = _says("expected names before and a type after each ` - ` in :objects")


def twice(name: str) -> str:
    return f":objects declares {quote(name)} twice"


def expected_name(word: str, where: str) -> str:
    return f"expected a name in {where}, found {quote(word)}"


def keyword(word: str, where: str) -> str:
    return f"{quote(word)} in {where} is a keyword of PDDL, not a name"


def no_name(word: str, where: str) -> str:
    return f"{quote(word)} in {where} is not a name: a letter, then letters, digits, `-` or `_`"


no_atom = _says("`()` in {where} is not an atom")
too_many_formulas = _says("`({operator} …)` has a formula too many: `and` joins several")
no_formula = _says("`({operator} …)` lacks a formula")


def not_strips(where: str, construct: str) -> str:
    """A construct in ``:init`` or the goal that STRIPS does not have.

    >>> not_strips("the goal", "`not`")
    'the goal contains `not`: only a conjunction of positive ground atoms is STRIPS'
    """
    return f"{where} contains {construct}: only a conjunction of positive ground atoms is STRIPS"


def undeclared(atom: str | Atom, where: str, name: str) -> str:
    """An atom that names an object that nobody declares.

    >>> undeclared(("on", "b1", "b9"), ":init", "b9")
    '`(on b1 b9)` in :init names `b9`, which :objects does not declare'
    """
    return f"{quote(show_formula(atom))} in {where} names {quote(name)}, which :objects does not declare"


def true_and_false(atom: Atom) -> str:
    return f"{quote(show_atom(atom))} is both true and false in :init"


no_domain = _says("there is no domain")
domain_not_found = _says("no `(define (domain …` found")
domain_never_closed = _says(f"the domain {NEVER_CLOSED}")
empty_answer = _says("the answer is empty")
no_answer = _says("there is no answer")
place = _says("line {line}, column {column}: {text!r}")
"""A place where a step should be; line and column count from 1."""

no_action = _says("no action was found: {place}")
not_read = _says("not read: {places}")
cannot_be_read = _says("it cannot be read, {place}")
"""Why a step fails."""


# --- Why a plan is not valid


def failure(step: int, reason: str, whose: str = "") -> str:
    return f"{whose}step {step} fails: {reason}"


def goal_not_reached(first: Formula, lacking: int, whose: str = "") -> str:
    """The first of that many conjuncts of the goal that do not hold."""
    more = f" and {lacking - 1} more" if lacking > 1 else ""
    return f"{whose}the goal is not reached: {show_formula(first)}{more}"


def unknown_action(action: Action, operators: Sequence[str]) -> str:
    """The domain has these operators."""
    near = get_close_matches(action[0], operators, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{show_atom(action)}: the domain has no operator {action[0]}{hint}"


def wrong_arguments(action: Action, takes: int, given: int) -> str:
    arguments = f"{takes} argument{'' if takes == 1 else 's'}"
    return f"{show_atom(action)}: {action[0]} takes {arguments}, not {given}"


def no_object(action: Action, argument: str) -> str:
    return f"{show_atom(action)}: there is no object {argument}"


def not_of_type(action: Action, argument: str, own: Types, types: Types) -> str:
    """An argument of other types than the parameter's.

    >>> not_of_type(("fly", "t1"), "t1", ("truck",), ("airplane",))
    '(fly t1): t1 is a truck, not an airplane'
    """
    has, wanted = (" or ".join(f"{'an' if each[0] in 'aeiou' else 'a'} {each}" for each in kinds)
                   for kinds in (own, types))  # fmt: skip
    return f"{show_atom(action)}: {argument} is {has}, not {wanted}"


def different(action: Action, one: str, other: str) -> str:
    """An equation that does not hold.

    >>> different(("swap", "a", "a"), "a", "a")
    '(swap a a): it needs two different objects, not a twice'
    """
    why = f"it needs two different objects, not {one} twice" if one == other else f"{one} and {other} must be the same"
    return f"{show_atom(action)}: {why}"


def needs(action: Action, lacking: Iterable[Formula]) -> str:
    """Conditions that do not hold."""
    return f"{show_atom(action)} needs {_all(lacking)}"


def needs_false(action: Action, true: Iterable[Atom]) -> str:
    """Atoms that hold and must not."""
    return f"{show_atom(action)} needs {_all(true)} to be false"


def at_time(reason: str, time: Fraction, half: str = "", late: str = "") -> str:
    """Why an action cannot be executed, at its ``start`` or ``end``, and what makes a missing atom true too late.

    >>> at_time("(fly a) needs (fuel a)", Fraction(3, 2), "end")
    '(fly a) needs (fuel a) at its end, at time 1.5'
    """
    when = f"{reason}{f' at its {half}' if half else ''}, at time {show_number(time)}"
    return f"{when}; {late}, less than 0.001 apart: that is the same time, not before" if late else when


def no_duration(action: Action) -> str:
    return f"{show_atom(action)} has no duration, and the domain fixes none"


def wrong_duration(action: Action, duration: Fraction, asked: Formula) -> str:
    """A duration that the action does not have.

    >>> wrong_duration(("fly", "a"), Fraction(5), ("=", "?duration", "7"))
    '(fly a) with duration 5 needs (= ?duration 7)'
    """
    return f"{show_atom(action)} with duration {show_number(duration)} needs {show_formula(asked)}"


def invariant(action: Action, broken: Iterable[Formula], happened: Iterable[str], time: Fraction) -> str:
    """Conditions over all of an action that are false after what happened at a time.

    >>> invariant(("fly", "a"), [("sunny",)], ["(at 7 (not (sunny)))"], Fraction(7))
    '(fly a) needs (sunny) over all, which is false after (at 7 (not (sunny))), at time 7'
    """
    needs = f"{show_atom(action)} needs {_all(broken)} over all"
    return f"{needs}, which is false after {' and '.join(happened)}, at time {show_number(time)}"


def constraint(formula: Formula, state: int, time: Fraction | None, broken: int = 1, whose: str = "") -> str:
    """A constraint on the states passed through, and the first state that breaks it, none below 0.

    ``time`` is that of the state where time counts. It is the first of that many that are ``broken``.

    >>> constraint(("sometime", ("lit",)), -1, None), constraint(("always", ("lit",)), 2, None)
    ('(sometime (lit)) does not hold: the plan ends before it does',
     '(always (lit)) does not hold after step 2')
    """
    if state < 0 and formula[0] == "within":
        where = f": it is not true by {'step' if time is None else 'time'} {show_formula(formula[1])}"
    elif state < 0:
        where = ": the plan ends before it does"
    elif time is not None:
        where = f" from time {show_number(time)} on"
    else:
        where = f" after step {state}" if state else " in the initial state"
    more = f"; nor do {broken - 1} more constraints" if broken > 2 else "; nor does 1 more constraint" * (broken > 1)
    return f"{whose}{show_formula(formula)} does not hold{where}{more}"


def preferences(violated: Mapping[str, int]) -> str:
    """The preferences that a plan violates, each with how often; empty where it violates none.

    >>> preferences({"p1": 1, "p2": 3})
    'violates the preferences p1 and p2 (3 times)'
    """
    if not violated:
        return ""
    shown = [name if count == 1 else f"{name} ({count} times)" for name, count in violated.items()]
    return f"violates the preference{'s' * (len(shown) > 1)} {listed(shown, MOST_NAMES, ' and ')}"


def no_value(fluent: Atom) -> str:
    """A number that is not defined.

    >>> no_value(("fuel", "t1"))
    '(fuel t1) has no value'
    """
    return f"{show_formula(fluent)} has no value"


def _all(formulas: Iterable[Formula]) -> str:
    return " and ".join(map(show_formula, formulas))


# --- What is wrong with an answer to a question


def not_true(atom: Atom, step: int, action: Action = (), derived: bool = False) -> str:
    """After that many steps; the last action that deleted the atom, or a rule that would have to derive it.

    >>> not_true(("ontable", "b"), 3, ("pick-up", "b"))
    '(ontable b) is not true after step 3: (pick-up b) deleted it'
    """
    why = f"{show_atom(action)} deleted it" if action else "no rule derives it" if derived else "no step added it"
    return f"{show_atom(atom)} is not true {_after(step)}" + (f": {why}" if step or derived else "")


def is_true(atom: Atom, step: int) -> str:
    """The answer says that it is not."""
    return f"{show_atom(atom)} is true {_after(step)}"


def not_changed(atom: Atom, action: Action, to: bool, already: bool) -> str:
    """The atom is not made true (or false); ``already``: it was so before."""
    wanted = "true" if to else "false"
    shown = f"{show_atom(action)} does not make {show_atom(atom)} {wanted}"
    return f"{shown}: it was {wanted} before" if already else shown


def not_applicable(reason: str, step: int) -> str:
    return f"not applicable {_after(step)}: {reason}"


def is_applicable(action: Action, step: int) -> str:
    """The answer says that it is not."""
    return f"{show_atom(action)} is applicable {_after(step)}"


def missing(first: Formula, count: int, step: int = 0) -> str:
    """The first of that many that the answer lacks; of a trace, after which step."""
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{show_formula(first)}{more} {_are_missing(count, step)}"


def missing_count(count: int, step: int = 0) -> str:
    """As ``missing``, without saying what."""
    return f"{count} {_are_missing(count, step)}"


def _are_missing(count: int, step: int) -> str:
    return f"{'is' if count == 1 else 'are'} missing{f' after step {step}' if step else ''}"


def not_none() -> str:
    return "there is one"


def no_state_of_step(step: int) -> str:
    return f"the state after step {step} is missing"


def extra_states(count: int, steps: int) -> str:
    return f"{count} states after {steps} step{'' if steps == 1 else 's'}"


def no_step_fails(step: int) -> str:
    return f"step {step} can be executed"


def step_fails(step: int, reason: str) -> str:
    return f"step {step} cannot be executed: {reason}"


def fails_before(step: int) -> str:
    return f"an action before step {step} cannot be executed"


def is_not_first(step: int) -> str:
    return f"step {step} is not the first that fails"


def no_such_step(step: int, steps: int) -> str:
    return f"there is no step {step} among {steps}"


def valid_plan() -> str:
    return "the plan is valid"


def not_valid_plan(reason: str) -> str:
    return f"the plan is not valid: {reason}"


def not_unmet(formula: Formula) -> str:
    return f"{show_formula(formula)} is not what is unmet"


def reachable(atom: Atom, plan: Sequence[Action]) -> str:
    """A plan to a state that has the atom, or in which the action is applicable."""
    after = f" after {' '.join(map(show_atom, plan[:MOST_NAMES]))}{' …' * (len(plan) > MOST_NAMES)}" if plan else ""
    return f"{show_atom(atom)} can be reached{after or ' at once'}"


def trivial_landmark(atom: Atom, where: str) -> str:
    """It is true there already: in the initial state or the goal."""
    return f"{show_atom(atom)} is in the {where}"


def avoided(atom: Atom) -> str:
    return f"a plan reaches the goal without {show_atom(atom)}"


def not_cheapest(action: Action, cost: str, least: str) -> str:
    """What the cheapest plans with this first action cost (empty: there is none), and what all do."""
    rest = f"the cheapest plan that begins with it costs {cost}, not {least}" if cost else "no plan begins with it"
    return f"{show_atom(action)}: {rest}"


def nothing_left_out() -> str:
    return "nothing is left out"


def not_of_the_plan() -> str:
    return "its steps are not those of the plan with some left out"


def without_left_out(reason: str) -> str:
    return f"what is left is not valid: {reason}"


def not_as_recorded(answer: str, key: str) -> str:
    return f"{quote(answer)} is not the recorded {quote(key)}"


def cannot_read_element(text: str) -> str:
    return f"{quote(text)} cannot be read"


def not_of_problem(atom: Atom, why: str) -> str:
    return f"{show_atom(atom)}: {why}"


def no_such_object(name: str) -> str:
    return f"there is no object {name}"


def _after(step: int) -> str:
    return f"after step {step}" if step else "in the initial state"


# --- Two domains


def operator_count(count: int, expected: int, missing: Sequence[str], extra: Sequence[str]) -> str:
    """The numbers of operators, and those without a partner.

    >>> operator_count(1, 2, ["stop"], [])
    '1 operator instead of 2 (nothing corresponds to stop)'
    """
    said = f"{count:,} operator{'' if count == 1 else 's'} instead of {expected}"
    for what, names in (("nothing corresponds to", missing), ("too many:", extra)):
        said += f" ({what} {listed(names, MOST_NAMES)})" if names else ""
    return said


def other_words(different: Sequence[Sequence[str]]) -> str:
    """Words, each with another one that it stands for.

    >>> other_words([("sail", "cross")])
    'the same operators in other words: sail for cross'
    """
    if not different:
        return "the same operators with their parameters or arguments in another order"
    return f"the same operators in other words: {listed([f'{old} for {new}' for old, new in different], MOST_NAMES)}"


def literal(generated: str, reference: str, verb: str, part: str, atom: Atom) -> str:
    """A literal that a generated operator ``lacks``, or ``has`` beside the reference's.

    >>> literal("cross", "sail", "lacks", "deleted", ("at", "?from"))
    'cross (for sail) lacks the effect (not (at ?from))'
    >>> literal("cross", "cross", "has", "over all condition", ("open",))
    'cross has the precondition (over all (open))'
    """
    noun = "precondition" if "condition" in part else "effect"
    shown = f"(not {show_atom(atom)})" if part.endswith(("negative condition", "deleted")) else show_atom(atom)
    when = next((when for when in ("at start", "over all", "at end") if part.startswith(when)), None)
    shown = f"({when} {shown})" if when else shown
    return f"{_named(generated, reference)} {verb} the {noun} {line(shown)}"


def parameters(generated: str, reference: str, count: int, expected: int) -> str:
    return f"{_named(generated, reference)} takes {count} parameters instead of {expected}"


def parameter_type(  # noqa: PLR0913 (a field each)
    generated: str, parameter: str, types: Types, reference: str, expected: str, wanted: Types
) -> str:
    """Of each side the operator, its parameter and the types of that.

    >>> parameter_type("go", "?c", ("car",), "go", "?v", ("vehicle",))
    "go takes ?c of type car, the reference's go takes ?v of type vehicle"
    """
    return (
        f"{line(generated)} takes {parameter} of type {line(' or '.join(types))}, the reference's "
        f"{line(reference)} takes {expected} of type {line(' or '.join(wanted))}"
    )


other_types = _says(
    "the types differ in which are declared, in which type includes which, in constants or in quantified variables"
)


def beyond_strips_differs(generated: str, parts: Sequence[str]) -> str:
    """That formulas of an operator differ, in these parts as far as words tell.

    >>> beyond_strips_differs("fly", ["at start :duration"])
    'fly differs in what is beyond STRIPS (at start :duration)'
    """
    return f"{line(generated)} differs in what is beyond STRIPS{f' ({listed(parts, MOST_NAMES)})' if parts else ''}"


def outside_operators(sections: Sequence[str]) -> str:
    return f"the operators are the same; the domains differ in {listed(sections, MOST_NAMES)}"


no_renaming = _says("the operators agree in their literals one by one, but no one renaming makes all of them agree")


def _named(generated: str, reference: str) -> str:
    return line(generated if generated == reference else f"{generated} (for {reference})")


# --- Plans that domains exchange


reference_plan = _says("the reference's plan in the generated domain: {reason}")
generated_plan = _says("the generated domain's plan in the reference: {reason}")


def no_reference_plan(reason: str, found: str = "") -> str:
    """``found``: " that was found", where it is not proven."""
    return f"the reference domain has no plan{found}: {reason}"


def no_generated_plan(reason: str, found: str = "") -> str:
    return f"the generated domain has no plan{found}: {reason}"


SENTENCES: Mapping[str, Callable[..., str]] = {
    name.replace("_", " "): function
    for name, function in list(globals().items())
    if isfunction(function) and function.__module__ == __name__ and not name.startswith("_")
} | {each.__name__.replace("_", " "): each for each in (no_such_predicate, wrong_number_of_arguments, wrong_type)}
"""Each kind of difference and the function that says it."""


@dataclass(init=False, slots=True)
class Difference:
    """A kind of ``SENTENCES`` and its fields: numbers, words, lists of words, or another difference."""

    what: str
    fields: Mapping[str, Any]

    def __init__(self, what: str, **fields: Any) -> None:
        self.what = what
        self.fields = fields

    @property
    def separating(self) -> tuple[Formula, str] | None:
        """A conjunct of one goal that the other does not imply, and the side that asks for it."""
        if self.what != "goal":
            return None
        return (self.fields["has"], "generated") if "has" in self.fields else (self.fields["lacks"], "reference")


def sentence(difference: Difference) -> str:
    """The difference in words; ``KeyError`` or ``TypeError`` for a kind or fields that nothing here says.

    >>> sentence(Difference("goal", lacks=("on", "a", "b"), lacks_here=("on", "x", "y")))
    "the goal does not imply (on x y) (the reference's (on a b)), which the reference asks for"
    >>> sentence(Difference("unsolvable", reason=Difference("ran out", states=3)))
    'the goal is out of reach: the search for the goal ran out after 3 states'
    """
    fields = difference.fields.items()
    said = {name: sentence(field) if isinstance(field, Difference) else field for name, field in fields}
    return SENTENCES[difference.what](**said)
