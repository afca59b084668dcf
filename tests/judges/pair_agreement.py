"""What the program says of a pair of problems in any PDDL, held against the judge's answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pddl_eval
from pddl_eval import ProblemVerdict, UndecidedError, UnsolvableError

from tests.judges.equivalence import Answer, Side, after, compared, fits_map
from tests.judges.interpreter import Undefined, judge_task, satisfied
from tests.judges.pairs import Pair

TYPED_STATES, UNTYPED_STATES = 400, 400
"""The judge enumerates no more; of a problem with more it answers easy questions only."""

AGREE, READING, UNDECIDED, SILENT, INVALID, WRONG = (
    "agree", "agree if needed", "undecided", "judge silent", "reference invalid", "wrong"
)  # fmt: skip
"""``READING``: as the other reading of what a closed goal is says, ``Answer.needed``."""

VERDICTS = {
    "objects": {"object_count"},
    "types": {"types_differ"},
    "init": {"init_differs"},
    "unsolvable": {"unsolvable"},
    "goal": {"goal_differs"},
    "no goal states": {"identical", "isomorphic", "unsolvable"},
    "": {"identical", "isomorphic", "equivalent"},
}
"""By what decides a pair for the judge."""


class Finding(NamedTuple):
    """One comparison: what was compared, what the judge says, and whether the program agrees."""

    check: str
    judged: bool | None
    outcome: str
    note: str = ""


def findings(pair: Pair) -> Iterator[Finding]:
    """Every comparison that the pair allows."""
    try:
        yield from compared_in_full(pair)
    except Undefined as error:
        yield Finding("all", None, SILENT, f"a rule reads {error}, which has no value")


def compared_in_full(pair: Pair) -> Iterator[Finding]:
    reference, generated = (Side(pair.story.text, each, True, TYPED_STATES) for each in pair[2:4])
    right = compared(reference, generated, pair.is_placeholder)
    asked = {"domain": pair.story.text, "is_placeholder": pair.is_placeholder}
    found = pddl_eval.compare_problems(pair.reference, pair.generated, **asked)
    mode = "placeholder" if pair.is_placeholder else "identity"
    invalid = reference.solvable in (False, None)  # None: it is not known here.
    yield verdict_finding(f"{mode} typed", invalid, right, found.equivalent, found)
    if found.verdict != "reference_invalid" and found.equivalent is not None and right.equivalent is not None:
        fits = str(found.verdict) in VERDICTS[right.because]
        outcome = AGREE if fits else READING if found.equivalent is right.needed else WRONG
        yield Finding("verdict", right.equivalent, outcome, f"{found.verdict}, judge {right.because}")
    erased = [Side(pair.story.text, each, False, UNTYPED_STATES) for each in pair[2:4]]
    untyped = compared(*erased, pair.is_placeholder)
    invalid = invalid or erased[0].solvable is False
    yield verdict_finding(f"{mode} untyped", invalid, untyped, found.equivalent_untyped, found)
    if found.equivalent:
        goal_map = (found.goal_object_map or found.object_map) if pair.is_placeholder else None
        note = "no map" if found.object_map is None else fits_map(reference, generated, found.object_map, goal_map)
        yield Finding("object map", True, WRONG if note else AGREE, note)
    yield solvable_finding(generated, found)
    yield solves_finding(pair, reference, generated, found)
    yield from closure_findings(pair, reference, generated)
    yield certificate_finding(pair, right)
    if found.verdict == "goal_differs" and not pair.is_placeholder:
        yield counterexample_finding(pair, reference, generated)


def verdict_finding(check: str, invalid: bool, right: Answer, said: bool | None, found: ProblemVerdict) -> Finding:
    """The answer in one mode; none is needed if the reference is ``invalid``: without a plan, or of too many states."""
    shown = f"judge {right.equivalent} {right.because}, program {said}: {found.verdict}, {found.detail}"
    if said is None and found.verdict == "reference_invalid":
        return Finding(check, right.equivalent, INVALID if invalid else WRONG, shown)
    if said is None:
        return Finding(check, right.equivalent, UNDECIDED, found.detail)
    if right.equivalent is None:
        return Finding(check, None, SILENT)
    return Finding(check, right.equivalent, how_far(said, right), shown)


def how_far(said: bool, right: Answer) -> str:
    return AGREE if said is right.equivalent else READING if said is right.needed else WRONG


def solvable_finding(generated: Side, found: ProblemVerdict) -> Finding:
    """Whether a plan exists, and the plan."""
    judged = generated.solvable and generated.well_typed
    if found.solvable is None:
        return Finding("solvable", judged, UNDECIDED, found.detail)
    if found.solvable and found.plan is not None:
        said = judge_task(generated.task, found.plan)
        return Finding("solvable", judged, AGREE if said.valid else WRONG, f"{said.verdict}: {found.plan}")
    if judged is None:
        return Finding("solvable", None, SILENT)
    return Finding(
        "solvable", judged, AGREE if found.solvable is judged else WRONG, f"judge {judged}, program {found.solvable}"
    )


def solves_finding(pair: Pair, reference: Side, generated: Side, found: ProblemVerdict) -> Finding:
    """Whether the plan for the generated problem reaches the reference's goal, in its words."""
    names: Mapping[str, str] | None = found.object_map
    if names is None and set(reference.objects) == set(generated.objects):
        names = {}
    if found.plan is None or names is None:
        wanted = None
    else:
        plan = [(action[0], *(names.get(each, each) for each in action[1:])) for action in found.plan]
        wanted = judge_task(reference.task, plan).valid
    if found.solves_reference is None and wanted is not None:
        return Finding("solves_reference", wanted, UNDECIDED, f"judge {wanted}, program None")
    agrees = found.solves_reference is wanted
    return Finding(
        "solves_reference", wanted, AGREE if agrees else WRONG, f"judge {wanted}, program {found.solves_reference}"
    )


def closure_findings(pair: Pair, *sides: Side) -> Iterator[Finding]:
    """cl(goal), of which the atoms are compared."""
    for side, text in zip(sides, pair[2:4], strict=True):
        if side.goal_states is None or not side.literal_goal or not side.well_typed:
            continue
        try:
            found = pddl_eval.fully_specify(text, pair.story.text)
        except UnsolvableError:
            yield Finding("closure", side.solvable, WRONG if side.solvable else AGREE, "unsolvable")
        except UndecidedError as error:
            yield Finding("closure", side.solvable, UNDECIDED, str(error))
        except pddl_eval.ParseError as error:
            yield Finding("closure", side.solvable, WRONG, f"not read: {error}")
        else:
            right = side.true if side.solvable else frozenset()
            atoms = {each for each in found if each[0] != "not"}
            note = f"missing {sorted(right - atoms)}, too many {sorted(atoms - right)}"
            yield Finding("closure", side.solvable, AGREE if atoms == right and side.solvable else WRONG, note)


def certificate_finding(pair: Pair, right: Answer) -> Finding:
    """Equal exactly for equivalent problems."""
    try:
        one, other = (
            pddl_eval.certificate(text, pair.story.text, is_placeholder=pair.is_placeholder) for text in pair[2:4]
        )
    except UndecidedError as error:
        return Finding("certificate", right.equivalent, UNDECIDED, str(error))
    except pddl_eval.ParseError as error:
        return Finding("certificate", right.equivalent, WRONG, f"not read: {error}")
    if right.equivalent is None:
        return Finding("certificate", None, SILENT)
    return Finding("certificate", right.equivalent, how_far(one == other, right), f"judge {right}, {one} and {other}")


def counterexample_finding(pair: Pair, reference: Side, generated: Side) -> Finding:
    """A plan, valid from the common initial state, to a state with one goal and not the other."""
    check = "counterexample"
    try:
        found = pddl_eval.counterexample(pair.reference, pair.generated, domain=pair.story.text)
    except UndecidedError as error:
        return Finding(check, False, UNDECIDED, str(error))
    if found is None:
        return Finding(check, False, WRONG, "none")
    back = {theirs: ours for ours, theirs in found.object_map.items()}
    note = fits_map(generated, generated, {name: name for name in generated.objects}, None)
    ends = []
    for side, names in ((reference, {}), (generated, back)):
        state = after(
            side.task, [(action[0], *(names.get(each, each) for each in action[1:])) for action in found.plan]
        )
        ends.append(state is not None and satisfied(side.task, side.task.goal, state))
        note = note or ("a step fails" if state is None else "")
    wanted = [found.satisfies == "reference", found.satisfies == "generated"]
    if not note and ends != wanted:
        note = f"goals hold {ends}, claimed {wanted}"
    return Finding(check, False, WRONG if note else AGREE, f"{note} {found}")
