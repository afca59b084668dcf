"""What a domain says by types: which of several alternatives count, and which type is next above which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import ROOT_TYPE, Domain, Types


def least_types(domain: Domain, alternatives: Types) -> Types:
    """The alternatives that say something, sorted: none that another one includes; no type is any object.

    >>> least_types(Domain("d", {"car": "thing", "thing": "object"}, {}, {}, ()), ("car", "thing"))
    ('thing',)
    """
    if len(alternatives) == 1:
        return alternatives if alternatives[0] in domain.types else ()
    left = {type_ if type_ in domain.types else ROOT_TYPE for type_ in alternatives}
    if ROOT_TYPE in left:
        return ()
    for type_ in sorted(left):
        for other in _above(domain, type_, left):
            spend(2 * len(domain.types))
            if type_ in domain.ancestors(other):  # of types that are each other's ancestors the first one stays
                left.discard(other)
            else:
                left.discard(type_)
                break
    return tuple(sorted(left))


def hierarchy(domain: Domain, types: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of the types with the next ones of them that include it: one, unless some type has several parents.

    Types that several parents make one of these belong to are among them.
    """
    known = set(types)
    waiting = sorted(known) if domain.several else []
    seen = set()
    for each in waiting:  # grows while it is walked
        spend(2)
        if each in domain.types and each not in seen:
            seen.add(each)
            parents = _lowest(domain, domain.parents(each))
            known.update(parents if len(parents) > 1 else ())
            waiting += domain.parents(each)
    for type_ in sorted(known):
        next_ones: dict[str, None] = {}
        waiting, seen = [type_], set()
        for each in waiting:  # grows while it is walked
            spend(2)
            if each in known and each != type_:
                next_ones[each] = None
            elif each in domain.types and each not in seen:
                seen.add(each)
                waiting += domain.parents(each)
        for other in _lowest(domain, tuple(next_ones)):
            yield type_, other


def _lowest(domain: Domain, types: Types) -> Types:
    """The types but for those that are above another one of them; of a circle all are lowest."""
    left = dict.fromkeys(types)
    for type_ in types if len(types) > 1 else ():
        for upper in _above(domain, type_, left.keys()):
            spend(2 * len(domain.types))
            if type_ not in domain.ancestors(upper):
                del left[upper]
    return tuple(left)


def _above(domain: Domain, type_: str, left: Set[str]) -> Set[str]:
    """What is left above a type, if it is left itself."""
    spend(2 * len(domain.types))
    return left & {*domain.ancestors(type_)} - {type_} if type_ in left else frozenset()
