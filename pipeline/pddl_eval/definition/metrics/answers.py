"""Is the answer to a question right? What ``definition.questions`` judges, as columns of a row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from pddl_eval.columns import ASKED
from pddl_eval.definition import words
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.kept import kept
from pddl_eval.definition.metrics.plan_pair import NotExecuted, detail_of, executable, executed_plan
from pddl_eval.definition.metrics.plans import operators_of
from pddl_eval.definition.metrics.problem import reads_problem
from pddl_eval.definition.metrics.registry import Column, Metric, Pair, Row, domain_of, given
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, read_plan
from pddl_eval.definition.questions import (
    PLAIN,
    Judged,
    Question,
    Searches,
    action_in_words,
    answer_text,
    judge,
    key,
    read_letter,
    read_truth,
    unknown_kind,
    why_empty,
)
from pddl_eval.definition.state_space import MAX_STATES
from pddl_eval.definition.task import reference_task
from pddl_eval.definition.verdict import AnswerVerdict, Judgement, PlanVerdict, RightAnswers, Undecided

_YES_NO = deferred(r"\W*(?:(yes|true)|no|false)\W*", re.IGNORECASE)
_LETTER = deferred(r"\W*([A-Z])\W*", re.IGNORECASE)


@dataclass
class AnswerPair:
    """A question and its answer. ``question`` is why there is none, where its row is not one.

    ``recorded`` is the key that the row has; ``notes`` are what metrics add to the detail.
    """

    kind: str | None
    question: Question | NotExecuted
    text: str | None
    recorded: str | None
    answer: str
    notes: list[str] = field(default_factory=list)

    @cached_property
    def judged(self) -> Judged:
        """The judgement, by the computed key; by the recorded one where that is yes, no or a letter."""
        if self.recorded is not None and self.is_choice:
            return self._as_recorded(self.recorded)
        return self._judged(self.text)

    @property
    def verdict(self) -> AnswerVerdict:
        """The same with all words on one line."""
        found = self.judged
        correct = found.judgement.right
        is_open = found.judgement in (Judgement.UNDECIDED, Judgement.REFERENCE_INVALID)
        told = found.detail if found.told is None else found.told
        return AnswerVerdict(
            None if is_open else correct,
            found.judgement,
            found.precision,
            found.recall,
            found.first_wrong_step,
            detail_of([found.detail, *self.notes]),
            detail_of([told]),
        )

    @cached_property
    def recorded_is_right(self) -> bool | None:
        """Whether the recorded key is a right answer; None where that is not decided, or there is none to judge."""
        if self.recorded is None or self.is_choice:
            return None
        judgement = self._judged(self.recorded).judgement
        return None if judgement in (Judgement.UNDECIDED, Judgement.REFERENCE_INVALID) else judgement.right

    @property
    def key(self) -> RightAnswers:
        """The right answers: all of them where the states can be enumerated."""
        question = self.question
        if isinstance(question, NotExecuted):
            return RightAnswers(None, None, None, question.reason)
        searches = replace(question.searches, states=MAX_STATES)
        return key(self.kind or "", replace(question, searches=searches))

    @property
    def is_choice(self) -> bool:
        """True where the recorded key is yes, no or a letter."""
        said = self.recorded or ""
        return bool(_LETTER.fullmatch(said) or (self.kind != "validity" and _YES_NO.fullmatch(said)))

    def _judged(self, text: str | None) -> Judged:
        if isinstance(self.question, NotExecuted):
            is_open = self.question.verdict is PlanVerdict.UNDECIDED
            judgement = Judgement.UNDECIDED if is_open else Judgement.REFERENCE_INVALID
            return Judged(judgement, detail=self.question.reason)
        return judge(self.kind or "", self.question, text, self.answer)

    def _as_recorded(self, recorded: str) -> Judged:
        if empty := why_empty(self.text):
            return Judged(Judgement.EMPTY, 0.0, 0.0, None, empty)
        said = answer_text(self.text or "", self.answer)
        letter, yes = _LETTER.fullmatch(recorded), _YES_NO.fullmatch(recorded)
        found: str | bool | None
        if letter:
            found, right = read_letter(said, self.answer), letter[1].upper()
        else:
            found, right = read_truth(said, self.answer), yes is not None and yes[1] is not None
        if found is None:
            return Judged.unreadable("neither yes nor no" if yes else "no letter of a choice")
        shown = ("no", "yes")[found] if isinstance(found, bool) else found
        return Judged.of(found == right, words.not_as_recorded(shown, recorded.strip()), "")


def read_answer(row: Row, options: ScoringOptions, searches: Searches = PLAIN) -> AnswerPair:
    """The question of a row and its answer."""
    recorded = row.get("reference_answer")
    question = or_undecided(lambda: _question(row, options, searches))
    if isinstance(question, Undecided):
        question = NotExecuted(question.reason, PlanVerdict.UNDECIDED)
    return AnswerPair(
        row.get("question"),
        question,
        row.get("generated_answer"),
        recorded if given(recorded) else None,
        options.answer,
    )


def _question(row: Row, options: ScoringOptions, searches: Searches) -> Question | NotExecuted:
    if why := unknown_kind(row.get("question")):
        return NotExecuted(why)
    problem = row.get("reference_problem") or ""
    if not given(problem):
        return NotExecuted("there is no problem")
    in_words = row.get("question") == "progression"
    return kept(_about, problem, domain_of(row, options), row.get("plan"), in_words, searches)


def _about(
    problem: str, domain: str | None, said: str | None, in_words: bool, searches: Searches
) -> Question | NotExecuted:
    """``in_words``: a plan that cannot be read may be the name of an action in words."""
    try:
        task = executable(reference_task(problem, domain, for_plans=True))
    except DomainError as error:
        return NotExecuted(f"the domain cannot be read: {error}")
    if isinstance(task, NotExecuted):
        return task
    if task.ill_typed:
        return NotExecuted(f"in the reference, {task.ill_typed}")
    if task.domain is not None and (beyond := task.domain.beyond_states(task.problem)):
        return NotExecuted(beyond, PlanVerdict.UNDECIDED)
    plan = read_plan(said, operators=operators_of(task))
    if said and in_words and (plan.damage is not None or not plan.found):
        action = action_in_words(said, Question(task, (), executed_plan((), None, task), searches))
        if action is not None:
            return Question(task, (action,), executed_plan((action,), None, task), searches)
    if not plan.found and plan.reason not in (NO_ANSWER, EMPTY):
        return NotExecuted(f"the plan cannot be read: {plan.reason}")
    return Question(task, plan.steps, executed_plan(plan.steps, plan.damage, task), searches)


VERDICT = Metric(
    (
        Column("answer_correct", bool, "the answer is right; null: not decided", optional=True),
        Column("answer_verdict", str, "right, or what is wrong, as one of the names in the table of verdicts"),
        Column("answer_precision", float, "share of what the answer says that is right; 0/0: 1", has_mean=True),
        Column("answer_recall", float, "share of what is right that the answer says; 0/0: 1", has_mean=True),
        Column("answer_first_wrong_step", int, "of a trace: the first step after which a state is wrong, from 1"),
        Column("answer_detail", str, "the first thing that is wrong with the answer, if anything"),
    ),
    lambda pair: _columns(pair.verdict),
)

RECORDED = Metric(
    (Column("reference_answer_correct", bool, "the recorded answer is right by the computed key", optional=True),),
    lambda pair: (pair.recorded_is_right,),
)


def _columns(verdict: AnswerVerdict) -> list[object]:
    shares = verdict.precision, verdict.recall, verdict.first_wrong_step
    return [verdict.correct, verdict.verdict.value, *shares, verdict.detail or None]


ANSWER = Pair(
    "answer",
    read_answer,
    (VERDICT, RECORDED),
    "answer_verdict",
    "answer_verdict",
    reads=(("reference_answer", given), ("reference_problem", reads_problem)),
    needs_one=True,
    asks=ASKED,
)
