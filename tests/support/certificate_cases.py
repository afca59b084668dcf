"""Cases of certificates for other programs, by ``certificate_page``: ``python -m tests.support.certificate_cases``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.judges import certificate_page

GUIDE = Path(__file__).parents[2] / "infra/site/pages/guide"
FILE = GUIDE / "certificates.json"
KNOWN = ("blocksworld", "floor-tile", "gripper", "rover-single-storeless", "rover-single-stores")

FURNACES = """(define (domain furnaces) (:predicates (lit ?x) (hot ?x) (guards ?x ?y))
  (:action heat :parameters (?x ?y)
    :precondition (and (guards ?x ?y) (or (forall (?q) (not (lit ?q))) (exists (?q) (hot ?q)))) :effect (hot ?y))
  (:action light :parameters (?x ?y) :precondition (and (guards ?x ?y) (not (hot ?y)) (= ?x ?x))
    :effect (and (lit ?x) (not (guards ?x ?y)))))"""
TWO = "(define (problem two) (:domain furnaces) (:objects a b c) (:init (guards a b) (guards b c)) (:goal {}))"


def texts() -> Iterator[tuple[str, str, str]]:
    """Name, problem and domain: the examples of the page, and a domain with negation and formulas."""
    page = (GUIDE / "certificates.md").read_text(encoding="utf-8")
    for example in page.partition("## Examples")[2].split("\n### ")[1:]:
        (text,) = re.findall(r"```pddl\n(.*?)```", example, re.DOTALL)
        domain, opening, problem = text.partition("(define (problem")
        yield example.partition("\n")[0], opening + problem, domain or known_pddl("blocksworld")
    for goal in ("(lit a)", "(and (lit a) (not (hot b)))", "(hot b)", "(and (lit a) (hot b))"):
        yield f"furnaces {goal}", TWO.format(goal), FURNACES


def known_pddl(name: str) -> str:
    """The text of a known domain."""
    text: str = import_module(f"pddl_eval.definition.domains.{name.replace('-', '_')}").PDDL
    return text


def cases() -> dict[str, Any]:
    """All of the file."""
    problems = []
    for name, problem, domain in texts():
        read = certificate_page.read(problem, domain)
        for is_placeholder in (False, True):
            value = certificate_page.value(*read, certificate_page.closure(*read), is_placeholder)
            problems.append(
                {
                    "name": name,
                    "domain": domain,
                    "problem": problem,
                    "is_placeholder": is_placeholder,
                    "value": value,
                    "bytes": certificate_page.encoded(value).hex(),
                    "certificate": certificate_page.digest(*value),
                }
            )
    nothing = "(define (problem p) (:domain d) (:init) (:goal (and)))"
    domains = [
        {"domain": text, "fingerprint": certificate_page.fingerprint(*certificate_page.read(nothing, text))}
        for text in (*map(known_pddl, KNOWN), FURNACES)
    ]
    return {"version": 3, "problems": problems, "domains": domains}


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), indent=1) + "\n", encoding="utf-8")
