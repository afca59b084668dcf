"""Rewrites a planning task for a planner outside: plain names, no types, positive goals, and as PDDL text.

The text holds nothing but what is written here, whatever the problem's objects are called, and needs no feature of
PDDL beyond STRIPS with ``=`` and negative preconditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator, Problem

_Signature = tuple[str, int]


def with_plain_names(
    problem: Problem, domain: Domain, without: frozenset[Atom] = frozenset()
) -> tuple[Problem, Domain, Mapping[str, str]]:
    """The same planning task in names that any reader takes, without types, and the way back to the old names.

    Types become predicates that no operator touches. Each atom of ``without`` becomes a positive goal: its predicate
    gets a counterpart that is true of the atom when the predicate is not. Where an operator deletes and adds the same
    atom at once the counterpart is true too often, never too rarely: a proof stands, a plan must be executed.

    >>> car = Domain("d", {"car": "object"}, {}, {}, (Operator("go", (("?c", ("car",)),), *[frozenset()] * 4),))
    >>> problem, domain, names = with_plain_names(Problem("p", "d", {"a b": "car"}, frozenset(), frozenset()), car)
    >>> problem.objects, problem.init, names
    ({'o0': 'object'}, frozenset({('t0', 'o0')}), {'o0': 'a b', 'a0': 'go'})
    """
    typed = {**problem.objects, **domain.constants}
    relevant = [*problem.goal, *without, *(atom for operator in domain.operators for atom in _atoms(operator))]
    signatures = {_signature(atom) for atom in relevant} - {(EQUALITY, 3)}
    init = {atom for atom in problem.init if _signature(atom) in signatures}
    terms = {term for atom in (*relevant, *init) for term in atom[1:] if not term.startswith("?")}
    objects = {name: f"o{number}" for number, name in enumerate(sorted(terms | typed.keys()))}
    predicates = {signature: f"p{number}" for number, signature in enumerate(sorted(signatures))}
    predicates[EQUALITY, 3] = EQUALITY
    opposites = {signature: f"not-{predicates[signature]}" for signature in {_signature(atom) for atom in without}}
    alternatives = sorted({types for operator in domain.operators for _, types in operator.parameters})
    kinds = {types: f"t{number}" for number, types in enumerate(alternatives)}

    operators = []
    for number, operator in enumerate(domain.operators):
        variables = {variable: f"?x{position}" for position, (variable, _) in enumerate(operator.parameters)}
        names = objects | variables
        fitting = {(kinds[types], variables[variable]) for variable, types in operator.parameters}
        operators.append(
            Operator(
                f"a{number}",
                tuple((variable, (ROOT_TYPE,)) for variable in variables.values()),
                _renamed(operator.preconditions, predicates, names) | fitting,
                _renamed(operator.negative_preconditions, predicates, names),
                _renamed(operator.add_effects, predicates, names) | _renamed(operator.delete_effects, opposites, names),
                _renamed(operator.delete_effects, predicates, names) | _renamed(operator.add_effects, opposites, names),
            )
        )
    constants = {
        objects[term]: ROOT_TYPE
        for operator in domain.operators
        for atom in _atoms(operator)
        for term in atom[1:]
        if term in objects
    }
    fitting = {
        (kinds[types], objects[name])
        for types in alternatives
        for name, type_ in typed.items()
        if any(t == ROOT_TYPE or t not in domain.types or t in domain.ancestors(type_) for t in types)
    }
    plain_problem = Problem(
        "plain-problem",
        "plain-domain",
        dict.fromkeys((plain for plain in objects.values() if plain not in constants), ROOT_TYPE),
        _renamed(init, predicates, objects) | _renamed(without - init, opposites, objects) | fitting,
        _renamed(problem.goal, predicates, objects) | _renamed(without, opposites, objects),
    )
    arity = {name: length - 1 for names in (predicates, opposites) for (_, length), name in names.items()}
    arity |= dict.fromkeys(kinds.values(), 1)
    del arity[EQUALITY]
    declared = {name: ((ROOT_TYPE,),) * length for name, length in arity.items()}
    plain_domain = Domain("plain-domain", {}, constants, declared, tuple(operators))
    back = {plain: name for name, plain in objects.items()}
    return plain_problem, plain_domain, back | {f"a{n}": operator.name for n, operator in enumerate(domain.operators)}


def _signature(atom: Atom) -> _Signature:
    return atom[0], len(atom)


def _atoms(operator: Operator) -> Iterator[Atom]:
    yield from operator.preconditions
    yield from operator.negative_preconditions
    yield from operator.add_effects
    yield from operator.delete_effects


def _renamed(
    atoms: frozenset[Atom] | set[Atom], predicates: Mapping[_Signature, str], terms: Mapping[str, str]
) -> frozenset[Atom]:
    """The atoms of the known predicates, in new names."""
    return frozenset(
        (predicates[_signature(atom)], *(terms[term] for term in atom[1:]))
        for atom in atoms
        if _signature(atom) in predicates
    )
