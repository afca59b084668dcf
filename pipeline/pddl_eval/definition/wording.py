"""The sentence of a difference: the ``detail`` of a verdict on two problems."""

from __future__ import annotations

from collections.abc import Sequence

from pddl_eval.definition.difference import Difference
from pddl_eval.definition.model import show_formula
from pddl_eval.definition.verdict import OUTSIDE_STRIPS, Unsolvable

EXCLUDED = "no reachable state has the goal's atoms together: invariants exclude it"

EACH_WAY = "no reachable state has the goal's atoms together: each way to the last is excluded"

OUT_OF_REACH = "the goal is out of reach even if nothing is ever deleted"


def ran_out(states: int) -> str:
    """What a search proves that visited all states; with the sentences above, these are proofs of the kernel."""
    return f"the search for the goal ran out after {states:,} states"


def sentence(difference: Difference) -> str:  # noqa: C901 (one case a kind of difference)
    """The difference in the words of the problems.

    >>> sentence(Difference("goal", lacks=("on", "a", "b"), lacks_here=("on", "x", "y")))
    "the goal does not imply (on x y) (the reference's (on a b)), which the reference asks for"
    """
    found, expected, names = difference.found, difference.expected, difference.names
    match difference.what:
        case "identical":
            return "the same atoms"
        case "renamed":
            return "the same atoms after renaming objects"
        case "closures agree":
            added = (
                f"{found} implied atom{'' if found == 1 else 's'} added to the answer's, {expected} to the reference's"
            )
            return f"the goals agree once fully specified: {added}"
        case "goal states agree":
            return "the goals hold in the same reachable states"
        case "goal states differ":
            return "the goals hold in different reachable states"
        case "reference unread":
            return f"the reference cannot be read: {difference.reason}"
        case "reference outside STRIPS":
            return f"{OUTSIDE_STRIPS}: {difference.reason}"
        case "reference ill-typed":
            return f"in the reference, {difference.reason}"
        case "reference unsolvable":
            return f"the reference has no solution: {_proof(difference)}{_vocabulary(difference)}"
        case "domain":
            return f"the domain is {names[0]} instead of {names[1]}"
        case "object count":
            kind = "missing" if found < expected else "extra"
            tail = f"; {kind}: {_some(names, abs(found - expected))}" if names else ""
            return f"{found} objects instead of {expected}{tail}"
        case "object type":
            return f"{names[0]} has type {names[1]} instead of {names[2]}"
        case "type count":
            return f"{found} objects of type {names[0]} instead of {expected}"
        case "init":
            lacks = [f"lacks {_in_both_words(difference)}"] if difference.lacks else []
            has = [f"has {show_formula(difference.has)}, which is not in the reference"] if difference.has else []
            return f"the initial state {' and '.join(lacks + has)}" if lacks + has else "the initial states differ"
        case "value" if difference.has:
            return f"{show_formula(difference.has)} is {names[0]}, and has no value in the reference"
        case "value" if not names[0]:
            return f"{_in_both_words(difference)} has no value; in the reference it is {names[1]}"
        case "value":
            return f"{_in_both_words(difference)} is {names[0]} instead of {names[1]}"
        case "metric" if "" in names:
            ours = f"the metric is {names[0]}" if names[0] else "there is no metric"
            return f"{ours}; the reference's is {names[1]}" if names[1] else f"{ours}; the reference has none"
        case "metric":
            return f"the metric is {names[0]} instead of {names[1]}"
        case "unsolvable":
            return f"the goal is out of reach: {_proof(difference)}"
        case "goal" if difference.has:
            return f"the goal asks for {show_formula(difference.has)}, which the reference's goal does not imply"
        case "goal":
            return f"the goal does not imply {_in_both_words(difference)}, which the reference asks for"
        case "goal placement":
            return "the goals place the objects of the initial state differently"
    return difference.reason


def _proof(difference: Difference) -> str:
    return Unsolvable(difference.reason, difference.atoms).reason


def _vocabulary(difference: Difference) -> str:
    """Which predicates the known domain does not have, and how to give the right one; empty where it has all."""
    if not difference.names:
        return ""
    domain, *unknown = difference.names
    named = f"predicate{'s' if difference.found > 1 else ''} {_some(unknown, difference.found)}"
    return f"; {domain} has no {named} here: if the problem is of another version, give its PDDL (--domain FILE)"


def _in_both_words(difference: Difference) -> str:
    """The reference's atom in the answer's words, and in the reference's where the two differ."""
    ours, theirs = map(show_formula, (difference.lacks_here, difference.lacks))
    return ours if ours == theirs else f"{ours} (the reference's {theirs})"


def _some(names: Sequence[str], count: int) -> str:
    """The names, which are the first of that many."""
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(names) + more
