"""Asks Fast Downward for a plan: the planner beyond enumeration, run as a subprocess with limits.

Only text that is written here reaches it: every name of problem and domain is replaced by a plain one and the plan is
translated back, so that no answer of a model can upset the planner's reader. What it finds must still be executed. The
planner comes with the extra ``planner``; without it every question is undecided.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from pddl_eval.definition.model import (
    CONNECTIVES,
    EQUALITY,
    QUANTIFIERS,
    ROOT_TYPE,
    UPDATES,
    Action,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    Types,
    domain_to_pddl,
    problem_to_pddl,
)
from pddl_eval.definition.pddl import derivation_rules, typed_list
from pddl_eval.definition.verdict import Undecided, Unsolvable
from pddl_eval.errors import how_to_install

SECONDS = 10
"""Processor time for translating and searching; the process is killed when the clock shows ``_GRACE_SECONDS`` more."""

MEGABYTES = 2_000
"""Address space of each of the planner's processes."""

_GRACE_SECONDS = 5
_CONFIGURATION = "lama-first"
_PLAN_FOUND = (0, 1, 2, 3)
_PROVEN_UNSOLVABLE = (10, 11)
_OUT_OF_TIME = (21, 23, 24, 256 - signal.SIGXCPU)
_OUT_OF_MEMORY = (20, 22)


def find_plan(problem: Problem, domain: Domain) -> tuple[Action, ...] | Unsolvable | Undecided:
    """A plan that Fast Downward found, not yet executed; or the proof that there is none.

    ``Unsolvable`` only for the exit codes that stand for a proof: no relaxed plan, or all states explored without
    unsafe pruning. ``Undecided`` for a limit, a missing planner or a failure, which its reason names.

    The domain and the goal may have ADL and derived predicates; nothing in them is refused, and they read no numbers.
    """
    driver = _driver()
    if driver is None:
        return Undecided(f"Fast Downward is not installed: {how_to_install('planner') or 'its script is missing'}")
    import tempfile  # here: a first verdict imports nothing that it does not need

    plain_problem, plain_domain, names = with_plain_names(problem, domain)
    with tempfile.TemporaryDirectory(prefix="fast-downward-") as folder:
        scratch = Path(folder)
        (scratch / "domain.pddl").write_text(domain_to_pddl(plain_domain), encoding="ascii")
        (scratch / "problem.pddl").write_text(problem_to_pddl(plain_problem), encoding="ascii")
        exit_code = _run(driver, scratch)
        if exit_code not in _PLAN_FOUND:
            return _failure(exit_code)
        lines = (scratch / "plan").read_text(encoding="ascii").splitlines()
    return tuple(tuple(names[word] for word in line.strip(" ()").split()) for line in lines if line.startswith("("))


def with_plain_names(problem: Problem, domain: Domain) -> tuple[Problem, Domain, Mapping[str, str]]:
    """The same planning task in names that any reader takes, without types, and the way back to the old names.

    Types become predicates that no operator touches. A name with atoms of several lengths becomes several predicates.
    Costs are left out.

    >>> car = Domain("d", {"car": "object"}, {}, {}, (Operator("go", (("?c", ("car",)),), *[frozenset()] * 4),))
    >>> problem, domain, names = with_plain_names(Problem("p", "d", {"a b": "car"}, frozenset(), frozenset()), car)
    >>> problem.objects, problem.init, names
    ({'o0': 'object'}, frozenset({('t0', 'o0')}), {'o0': 'a b', 'a0': 'go'})
    """
    typed = {**problem.objects, **domain.constants}
    rules = derivation_rules(domain)
    formulas = [form for operator in domain.operators for _, form in operator.formulas] + [rule.body for rule in rules]
    in_operators = [atom for operator in domain.operators for atoms in operator.parts for atom in atoms]
    in_operators += chain.from_iterable(map(_atoms_of, formulas))
    asked = [*problem.goal, *chain.from_iterable(map(_atoms_of, problem.conjuncts)), *in_operators]
    kept = {(atom[0], len(atom)) for atom in asked} - {(EQUALITY, 3)}
    kept |= {(rule.name, len(rule.variables) + 1) for rule in rules}
    init = [atom for atom in problem.init if (atom[0], len(atom)) in kept]
    terms = {term for atom in (*asked, *init) for term in atom[1:] if not term.startswith("?")}
    objects = {name: f"o{number}" for number, name in enumerate(sorted(terms | typed.keys()))}
    plain = _Plain(
        {each: f"p{number}" for number, each in enumerate(sorted(kept))} | {(EQUALITY, 3): EQUALITY}, {}, count()
    )
    operators = []
    for number, operator in enumerate(domain.operators):
        names, fitting = plain.bound(operator.parameters, objects)
        needed, avoided, added, deleted = (plain.atoms(atoms, names) for atoms in operator.parts)
        said = tuple((part, plain.formula(form, names, part == ":effect")) for part, form in operator.formulas)
        parameters = tuple((names[variable], (ROOT_TYPE,)) for variable, _ in operator.parameters)
        operators.append(Operator(f"a{number}", parameters, needed | fitting, avoided, added, deleted, said))
    derived = []
    for rule in rules:
        names, fitting = plain.bound(rule.variables, objects)
        (head,) = plain.atoms([(rule.name, *(variable for variable, _ in rule.variables))], names)
        body = ("and", *sorted(fitting), plain.formula(rule.body, names, False))
        derived.append((":derived", (":derived", head, body)))
    goal = tuple((":goal", plain.formula(each, objects, False)) for each in problem.conjuncts)
    constants = {objects[term]: ROOT_TYPE for atom in in_operators for term in atom[1:] if term in objects}
    has_type = {
        (predicate, objects[name])
        for types, predicate in plain.types.items()
        for name, type_ in typed.items()
        if any(domain.fits(each, types) for each in (domain.types_of(name) if name in domain.constants else (type_,)))
    }
    plain_problem = Problem(
        "plain-problem",
        "plain-domain",
        dict.fromkeys((name for name in objects.values() if name not in constants), ROOT_TYPE),
        plain.atoms(init, objects) | has_type,
        plain.atoms(problem.goal, objects),
        formulas=goal,
    )
    declared = {
        name: ((ROOT_TYPE,),) * (length - 1) for (_, length), name in plain.predicates.items() if name != EQUALITY
    }
    declared |= dict.fromkeys(plain.types.values(), ((ROOT_TYPE,),))
    plain_domain = Domain("plain-domain", {}, constants, declared, tuple(operators), formulas=tuple(derived))
    back = {name: old for old, name in objects.items()}
    return plain_problem, plain_domain, back | {f"a{n}": operator.name for n, operator in enumerate(domain.operators)}


class _Plain(NamedTuple):
    """Plain names of predicates and, as they are met, of types and variables."""

    predicates: Mapping[tuple[str, int], str]
    types: dict[Types, str]
    numbers: Iterator[int]
    """Of variables: each has a name of its own."""

    def atoms(self, atoms: Iterable[Atom], names: Mapping[str, str]) -> State:
        return frozenset((self.predicates[atom[0], len(atom)], *(names[term] for term in atom[1:])) for atom in atoms)

    def bound(self, variables: Iterable[tuple[str, Types]], names: Mapping[str, str]) -> tuple[dict[str, str], State]:
        """The names with those of variables, which no other has, and the atoms that say what type each has."""
        found = dict(names)
        fitting = set()
        for variable, types in variables:
            found[variable] = f"?x{next(self.numbers)}"
            fitting.add((self.types.setdefault(types, f"t{len(self.types)}"), found[variable]))
        return found, frozenset(fitting)

    def formula(self, form: Formula, names: Mapping[str, str], is_effect: bool) -> Formula:
        """A condition or an effect; an update of a number is none."""
        if not form or isinstance(form, str) or form[0] in UPDATES:
            return ("and",)
        head, *parts = form
        if head in QUANTIFIERS:
            variables = typed_list(form[1], "a quantifier")
            inner, fitting = self.bound(variables, names)
            guard = "and" if head == "exists" else "when" if is_effect else "imply"
            body: Formula = (guard, ("and", *sorted(fitting)), self.formula(parts[1], inner, is_effect))
            return (head, tuple(inner[name] for name, _ in variables), body)
        if head == "when":
            return (head, self.formula(parts[0], names, False), self.formula(parts[1], names, True))
        if head in CONNECTIVES:
            return (head, *(self.formula(part, names, is_effect) for part in parts))
        return next(iter(self.atoms(_atoms_of(form), names)))


def _atoms_of(form: Formula) -> Iterator[Atom]:
    """The atoms and equations of a condition or an effect."""
    if not form or isinstance(form, str) or form[0] in UPDATES:
        return
    if form[0] in CONNECTIVES or form[0] in QUANTIFIERS or form[0] == "when":
        for part in form[2:] if form[0] in QUANTIFIERS else form[1:]:
            yield from _atoms_of(part)
    else:
        yield tuple([word for word in form if isinstance(word, str)])


def _driver() -> Path | None:
    """The script that runs translator and search, None where the package is missing."""
    spec = find_spec("up_fast_downward")
    folders = spec.submodule_search_locations if spec is not None else None
    scripts = [Path(folder) / "downward" / "fast-downward.py" for folder in folders or ()]
    return next((script for script in scripts if script.is_file()), None)


def _run(driver: Path, scratch: Path) -> int | None:
    """Run the planner in the scratch folder and return its exit code; None where the clock ran out and it was killed.

    It runs in a process group of its own, which is killed as one: the driver starts the translator and the search.
    """
    import subprocess

    limits = ["--overall-time-limit", f"{SECONDS}s", "--overall-memory-limit", f"{MEGABYTES}M"]
    files = ["domain.pddl", "problem.pddl"]
    command = [sys.executable, str(driver), "--plan-file", "plan", *limits, "--alias", _CONFIGURATION, *files]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=scratch, env=environment, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    try:
        return process.wait(timeout=SECONDS + _GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _failure(exit_code: int | None) -> Unsolvable | Undecided:
    """What an exit without a plan means (https://www.fast-downward.org/latest/documentation/exit-codes/)."""
    if exit_code in _PROVEN_UNSOLVABLE:
        return Unsolvable("Fast Downward searched all states that could lead to the goal")
    if exit_code is None or exit_code in _OUT_OF_TIME:
        return Undecided(f"Fast Downward found no plan in {SECONDS} seconds")
    if exit_code in _OUT_OF_MEMORY:
        return Undecided("Fast Downward ran out of memory")
    return Undecided(f"Fast Downward ended with exit code {exit_code}")
