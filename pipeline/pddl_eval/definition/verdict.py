"""How questions about problems end: the verdict on a pair, a proof that there is no solution, a limit that was hit.

Functions that decide something return their answer, ``Unsolvable`` or ``Undecided``; they do not raise: an unsolvable
problem is a result, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from pddl_eval.definition.model import Action, Atom, Formula, State, show_atom


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """A proof that no reachable state contains the goal; ``reason`` is a sentence: ``atoms``, then what they are.

    >>> Unsolvable("are never true together", (("on", "a", "b"), ("on", "b", "a"))).reason
    '(on a b) and (on b a) are never true together'
    """

    says: str
    atoms: tuple[Atom, ...] = ()

    @property
    def reason(self) -> str:
        """The proof in one sentence."""
        return f"{' and '.join(map(show_atom, self.atoms))} {self.says}".lstrip()


@dataclass(frozen=True, slots=True)
class Undecided:
    """A limit was hit before an answer was found; ``reason`` names the limit."""

    reason: str


SEVERAL_DRAFTS = "several drafts"
"""Begins the detail of each row whose answer held more than one: a run counts these."""

CERTIFICATE_VERSION = 3
"""Of the definition of certificates: those of one version never change, in any release and with any library.

3: in a domain that uses negation a placeholder's closed goal has the negated literals, and variables in formulas are
numbered by what binds them. All other digests are those of version 2.
"""

UNCHANGED_SINCE = 2
"""The version that is hashed into digests that version 3 left as they were."""


class NamedVerdict(StrEnum):
    """A verdict's name, with what it means in a few words and how far the comparison had to go."""

    meaning: str
    decided_by: str

    def __new__(cls, value: str, meaning: str, decided_by: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.decided_by = decided_by
        return member

    @property
    def right(self) -> bool:
        """True for the verdicts of a right answer."""
        return False


class Verdict(NamedVerdict):
    """What a comparison of two problems came to.

    ``meaning`` says it in a few words; ``decided_by`` says how far the comparison had to go.

    >>> Verdict.ISOMORPHIC.value, Verdict.ISOMORPHIC.meaning, Verdict.ISOMORPHIC.right
    ('isomorphic', 'the same atoms after renaming objects', True)
    """

    IDENTICAL = ("identical", "the same atoms under the same names", "the problems as written (no search needed)")
    ISOMORPHIC = ("isomorphic", "the same atoms after renaming objects", "the problems as written (no search needed)")
    EQUIVALENT = ("equivalent", "the same problem once both goals are fully specified", "both fully specified goals")
    EMPTY = ("empty", "no answer", "reading the answer")
    UNPARSEABLE = ("unparseable", "no PDDL problem that can be read", "reading the answer")
    NOT_STRIPS = ("not_strips", "a construct outside STRIPS", "reading the answer")
    DOMAIN_MISMATCH = ("domain_mismatch", "a problem of another domain", "the domain names differ (no search needed)")
    INVALID_ATOM = (
        "invalid_atom",
        "an atom of an undeclared object, or one that is true and false",
        "reading the answer",
    )
    OBJECT_COUNT = ("object_count", "too many or too few objects", "the numbers of objects differ (no search needed)")
    TYPES_DIFFER = ("types_differ", "objects of other types", "the types' sizes differ (no search needed)")
    INIT_DIFFERS = ("init_differs", "another initial state", "the initial states differ (no search needed)")
    GOAL_DIFFERS = ("goal_differs", "another goal", "the fully specified goals, which differ")
    UNSOLVABLE = ("unsolvable", "the goal is out of reach", "the answer's goal: no reachable state contains it")
    UNDECIDED = ("undecided", "a limit was hit before an answer was found", "nothing: a goal is not fully specified")
    REFERENCE_INVALID = (
        "reference_invalid",
        "the reference cannot be read or solved, is ill-typed or outside STRIPS",
        "the reference: no answer can be scored against it",
    )

    @property
    def right(self) -> bool:
        """True for the verdicts of an equivalent problem."""
        return self in (Verdict.IDENTICAL, Verdict.ISOMORPHIC, Verdict.EQUIVALENT)


OUTSIDE_STRIPS = "the reference is outside STRIPS"
"""How the detail of ``reference_invalid`` begins where the data has no mistake."""


class DomainVerdict(NamedVerdict):
    """What a comparison of two domains came to; ``meaning`` says it in a few words.

    >>> DomainVerdict.RENAMED.value, DomainVerdict.RENAMED.meaning
    ('renamed', 'the same operators in other words')
    """

    IDENTICAL = ("identical", "the same operators under the same names")
    RENAMED = ("renamed", "the same operators in other words")
    OPERATOR_COUNT = ("operator_count", "too many or too few operators")
    OPERATORS_DIFFER = ("operators_differ", "other operators, whatever the words")
    TYPES_DIFFER = ("types_differ", "the same operators but for the types of their parameters")
    EMPTY = ("empty", "no answer")
    UNPARSEABLE = ("unparseable", "no PDDL domain that can be read")
    UNDECIDED = ("undecided", "a limit was hit before an answer was found")
    REFERENCE_INVALID = ("reference_invalid", "the reference cannot be read")

    @property
    def right(self) -> bool:
        """True for the verdicts of an equivalent domain."""
        return self in (DomainVerdict.IDENTICAL, DomainVerdict.RENAMED)


class PlanVerdict(NamedVerdict):
    """Whether a plan is valid, and if it is not, what the first fault is; ``meaning`` says it in a few words.

    >>> PlanVerdict.PRECONDITION.value, PlanVerdict.PRECONDITION.meaning, PlanVerdict.PRECONDITION.right
    ('precondition', 'a precondition does not hold', False)
    """

    VALID = ("valid", "every step can be executed and the goal holds at the end")
    EMPTY = ("empty", "no answer")
    UNREADABLE = ("unreadable", "no plan, or a step, that can be read")
    UNKNOWN_ACTION = ("unknown_action", "an action that the domain does not have")
    WRONG_ARGUMENTS = ("wrong_arguments", "arguments of another number or type, or an undeclared object")
    PRECONDITION = ("precondition", "a precondition does not hold")
    DURATION = ("duration", "a duration that is missing, or that the action does not have")
    INVARIANT = ("invariant", "a condition over all of an action is broken while it is executed")
    INTERFERENCE = ("interference", "concurrent actions that disturb each other")
    CONSTRAINT = ("constraint", "a constraint on the states that the plan passes through does not hold")
    GOAL_NOT_REACHED = ("goal_not_reached", "the goal does not hold at the end")
    UNDECIDED = ("undecided", "a limit was hit before an answer was found")
    REFERENCE_INVALID = ("reference_invalid", "the problem or the domain cannot be read, or is ill-typed")

    @property
    def right(self) -> bool:
        """True for a valid plan."""
        return self is PlanVerdict.VALID


class Judgement(NamedVerdict):
    """What an answer to a question came to; ``meaning`` says it in a few words.

    >>> Judgement.TOO_MUCH.value, Judgement.TOO_MUCH.meaning, Judgement.TOO_MUCH.right
    ('too_much', 'all that is right, and something wrong', False)
    """

    RIGHT = ("right", "the answer is right")
    WRONG = ("wrong", "what it says is not so")
    INCOMPLETE = ("incomplete", "nothing wrong, but something is missing")
    TOO_MUCH = ("too_much", "all that is right, and something wrong")
    UNREADABLE = ("unreadable", "nothing that could be an answer to the question")
    EMPTY = ("empty", "no answer")
    UNDECIDED = ("undecided", "a limit was hit before an answer was found")
    REFERENCE_INVALID = ("reference_invalid", "the question, its problem or its plan cannot be read or has no answer")

    @property
    def right(self) -> bool:
        """True for a right answer."""
        return self is Judgement.RIGHT


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Whether an answer to a question is right, and the first thing that is wrong with it.

    ``correct`` is None where it is not decided. ``precision`` is the share of what the answer says that is right,
    ``recall`` the share of what is right that it says; 0/0 is 1, and what cannot be read has 0.
    ``first_wrong_step`` is the first step after which a state of a ``trace`` is wrong or missing, from 1. ``told`` is
    ``detail`` without what only who knows the right answer can say.

    >>> from pddl_eval import judge_answer
    >>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    >>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
    >>> verdict = judge_answer("state", "(on), (off)", dark, lamp, plan="(switch)")
    >>> verdict.verdict.value, verdict.precision, verdict.recall, verdict.detail
    ('too_much', 0.5, 1.0, '(off) is not true after step 1: (switch) deleted it')
    """

    correct: bool | None
    verdict: Judgement
    precision: float | None = None
    recall: float | None = None
    first_wrong_step: int | None = None
    detail: str = ""
    told: str = ""

    def __str__(self) -> str:
        return f"{self.verdict.value}: {self.detail or self.verdict.meaning}"


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """The right answers to a question.

    ``text`` is one of them, which ``judge_answer`` calls right; None where it is not decided, and ``detail`` says why.
    ``none_is_right`` says whether "none" is right, None where that is not decided. ``elements`` are:

    * of ``applicable`` and ``state`` the set of actions or atoms, of ``progression`` atoms and ``("not", atom)``;
    * of ``trace`` a tuple of the states after each step;
    * of ``executability`` the index of the action, from 0, or nothing; of ``validity`` True or False;
    * of ``unreachable_atom``, ``unreachable_action``, ``landmark`` and ``next_action`` all that are right, each alone;
      None where not all are known;
    * of ``justification`` None: there are too many.

    >>> from pddl_eval import right_answers
    >>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    >>> found = right_answers("next_action", "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))", lamp)
    >>> found.elements, found.none_is_right, found.text
    (frozenset({('switch',)}), False, '(switch)')
    """

    elements: frozenset[Formula] | frozenset[int] | tuple[State, ...] | None
    none_is_right: bool | None
    text: str | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ProblemVerdict:
    """The scores of one generated problem against its reference; None where not decided.

    Without a reference all that compares is None, and so is ``verdict`` where nothing is wrong with the problem itself.

    ``object_map`` (generated → reference) proves an equivalence; it maps the objects of the problem and no constants of
    the domain. In placeholder mode it maps the initial states, and ``goal_object_map`` maps the goals. For
    ``goal_differs``, ``separating_atom`` is an atom of the goal of ``separating_side`` (``generated`` or ``reference``)
    that the other goal does not imply; beyond STRIPS also another conjunct, such as ``("not", ("clear", "a"))``.
    ``plan`` solves the generated problem; it was executed step by step. ``solves_reference``: executed from the
    reference's initial state it reaches the reference's goal, under ``object_map`` or, where there is none, under equal
    names; None where there is no plan, or no map and other names. ``separating_plan``, in the reference's words, leads
    to a state with one goal and without ``separating_atom``: where the kernel found it, for ``counterexample``.
    A notebook shows the verdict as a small page.

    >>> from pddl_eval import compare_problems
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict = compare_problems(held, held.replace("(clear a)", "(holding a)"))
    >>> verdict.equivalent, verdict.solvable, verdict.separating_atom
    (False, True, ('clear', 'a'))
    >>> print(verdict)
    goal_differs: the goal does not imply (clear a), which the reference asks for
    """

    parseable: bool
    solvable: bool | None
    equivalent: bool | None
    equivalent_untyped: bool | None
    verdict: Verdict | None
    detail: str
    certificate: str | None = None
    reference_certificate: str | None = None
    object_map: dict[str, str] | None = None
    goal_object_map: dict[str, str] | None = None
    separating_atom: Formula | None = None
    separating_side: str | None = None
    plan: tuple[Action, ...] | None = None
    solves_reference: bool | None = None
    separating_plan: tuple[Action, ...] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        if self.verdict is None:
            return self.detail or "nothing is wrong"
        return f"{self.verdict.value}: {self.detail or self.verdict.meaning}"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A plan that shows that two goals differ: it leads from the initial state to a state with only one of them.

    ``satisfies`` is the side (``generated`` or ``reference``) whose goal holds there, ``lacking`` are the conjuncts of
    the other side's goal that do not, nearly always atoms. Plan and conjuncts are in the reference's words;
    ``object_map`` (generated → reference) maps initial state onto initial state.

    >>> from pddl_eval import counterexample
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> counterexample(held, held.replace("(clear a)", "(holding a)")).lacking
    frozenset({('clear', 'a')})
    """

    plan: tuple[Action, ...]
    satisfies: str
    lacking: frozenset[Formula]
    object_map: dict[str, str]
