"""The long run of canonical labelling against judges: ``python -m tests.measure.canonical --count 100000 --seed 1``.

For each random pair of coloured structures (``tests.judges.isomorphism``), of which each tenth is larger, it compares
the canonical forms with BLISS, and with all bijections up to 5 objects. It checks that equal forms have equal
invariants and that the canonical orders map one structure onto the other. It prints each disagreement with the number
that draws it again (``--first NUMBER --count 1``), and exits with 1 on any.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from random import Random

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.canonical import LabelledGraph, isomorphic

from tests.judges.isomorphism import Structure, by_bliss, by_definition, is_isomorphism, random_pair
from tests.measure.tally import Tally, drawing

UNDECIDABLE = (OutOfBudgetError,)
"""What a labelling past its budget raises; the one place that says so."""

DEFINITION_UP_TO = 5
"""Objects of which all bijections are tried."""

AGREED, UNDECIDED, DISAGREED = "agreed", "undecided", "disagreed"


def draw(seed: int, number: int) -> tuple[str, Structure, Structure]:
    """The pair with this number; each tenth is a larger one."""
    rng = Random(f"{seed} {number}")
    return random_pair(rng) if number % 10 else random_pair(rng, 20)


def labelled(structure: Structure) -> LabelledGraph:
    return LabelledGraph(structure.colors, structure.scenes)


def form_of(graph: LabelledGraph) -> Hashable | None:
    """The graph's form; None where it is past the budget."""
    try:
        return graph.form
    except UNDECIDABLE:
        return None


def judged(how: str, a: Structure, b: Structure) -> bool:
    """Whether they are isomorphic, as the judges say that can be asked."""
    if how == "copy":
        return True
    answer = by_bliss(a, b)
    assert len(a.colors) > DEFINITION_UP_TO or by_definition(a, b) is answer, "the judges disagree"
    return answer


def compared(how: str, a: Structure, b: Structure) -> tuple[bool, str, str]:
    """What the judges say, how the program did, and what is wrong with its answer."""
    expected = judged(how, a, b)
    first, second = labelled(a), labelled(b)
    forms = form_of(first), form_of(second)
    if None in forms:
        return expected, UNDECIDED, ""
    if (forms[0] == forms[1]) is not expected:
        return expected, DISAGREED, f"isomorphic: {expected}; equal forms: {not expected}"
    if isomorphic(labelled(a), labelled(b)) is not expected:
        return expected, DISAGREED, f"isomorphic: {expected}; isomorphic(a, b): {not expected}"
    if not expected:
        return expected, AGREED, ""
    if hash(forms[0]) != hash(forms[1]) or first.invariant != second.invariant:
        return expected, DISAGREED, "equal forms with unequal hashes or invariants"
    if not is_isomorphism(a, b, dict(zip(first.order, second.order, strict=True))):
        return expected, DISAGREED, f"the orders are no isomorphism: {first.order}, {second.order}"
    return expected, AGREED, ""


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    arguments = drawing(__doc__, 1000, "pairs").parse_args()
    tally = Tally("pairs", "isomorphic", UNDECIDED, DISAGREED)
    for number in range(arguments.first, arguments.first + arguments.count):
        how, a, b = draw(arguments.seed, number)
        expected, outcome, note = compared(how, a, b)
        tally.count([how], "pairs", "isomorphic" if expected else "", outcome)
        if outcome == DISAGREED:
            tally.disagree(f"pair {number} ({how}): {note}\n  {a}\n  {b}")
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
