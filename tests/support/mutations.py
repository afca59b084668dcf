"""Mutations of problem texts: what models get wrong, what adversaries try, and where lexers differ.

A text is a list of tokens (white space, comments, parentheses, words) whose concatenation it is. Each mutation takes
the tokens and a source of chance and returns new tokens. ``soup`` writes problems whose sections are random words.

The long run: ``python -m tests.support.mutations COUNT [SEED]`` compares ``read_problem`` with the ``pddl`` package on
COUNT texts, prints each disagreement and how many texts the package was not needed for.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from random import Random
from unittest import mock

from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import Unreadable, problems

from tests.judges.by_package import read_problem_by_package
from tests.support.shared_problems import SHARED_PROBLEMS

Tokens = list[str]

OWN_PROBLEMS = [
    """(define (problem swap-two) (:domain blocksworld) (:requirements :strips)
      (:objects b1 b2 b3)
      (:init (arm-empty) (clear b1) (on b1 b2) (on-table b2) (clear b3) (on-table b3))
      (:goal (and (on b2 b1) (clear b3))))""",
    """(define (problem carry) (:domain gripper) (:requirements :strips :typing :negative-preconditions)
      (:objects room1 room2 - room ball1 ball2 - ball left right - gripper robby)
      (:init (at-robby room1) (at ball1 room1) (at ball2 room1) (free left) (free right))
      ; both balls are wanted
      (:goal (and (at ball1 room2) (and (at ball2 room2)))))""",
    "(define (problem nothing) (:domain d) (:init) (:goal (and)))",
    "(define (problem one) (:domain d) (:objects a b - t c - object d) (:init (p a) (q)) (:goal (p a)))",
    """(define (problem costly) (:domain d) (:objects a) (:init (= (total-cost) 0) (p a)) (:goal (and (p a)))
      (:metric minimize (total-cost)))""",
]

SPACES = ["\t", "\f", "\v", "\r\n", "\n", "\u00a0", "\u2003", "\u2028", "\x1c", "\x85"]
NO_SPACES = ["\u200b", "\ufeff", "\x00", "\r;"]
COMMENTS = ["; c\n", ";\n", ";)\n", ";(;(\n", "; (define (problem x)\n", ";no end"]


def _listed(text: str, separator: str | None = None) -> list[str]:
    return [piece.strip() for piece in text.split(separator)]


KEYWORDS = _listed("""and or not imply forall exists when oneof define problem domain object either assign increase
    decrease scale-up scale-down minimize maximize total-cost number action""")
REQUIREMENTS = _listed(""":strips :typing :adl :equality :fluents :numeric-fluents :object-fluents :action-costs
    :negative-preconditions :disjunctive-preconditions :constraints :strips:typing :stripsx strips""")
WORDS = _listed("""- -- = > >= < ? ?x ??x ?and -x x- x-y a=b a?b ?x?y x?and 3 3.5 1.2.3 007 -5 3x b.1 b, é ı İ ſ _x x_
    x:y :x :init :initx :goal :metric :metricx :objects :requirements :domain a b b1 b2 block Object on clear arm-empty
    definex problemx andx notx =x =a forallx 'a " ` * + / \\ # % ( ) () \u212a""")
FORMULAS = _listed(
    """(and) | (and (and)) | (and (and (arm-empty)) (and)) | (not (clear b1)) | (not (not (clear b1))) | (not clear) |
    (not) | (not (clear b1) (clear b2)) | (or (clear b1) (on b1 b2)) | (or) | (imply (clear b1) (clear b2)) |
    (imply (clear b1)) | (forall (?x - block) (clear ?x)) | (forall (?x ?y - t ?z) (and (p ?x) (not (q ?y)))) |
    (forall (x) (p x)) | (forall (?x - (either block ball)) (p ?x)) | (forall () (p)) | (forall (?x ?x) (p)) |
    (forall (?and) (clear ?and)) | (forall ?x (p ?x)) | (exists (?x) (clear ?x)) | (exists (?x - object) (or (p ?x))) |
    (= b1 b2) | (= ?x b1) | (=a b) | (= b1) | (= b1 and) | (= (f) 3) | (= (f b1 b2) 3.5) | (= f 3) | (= total-cost 0) |
    (= (total-cost) 0) | (= (f total-cost) 0) | (= (f b1) b2) | (= (f) 1.2.3) | (= (f) -1) | (= 3 (f)) | (= a (f)) |
    (> (f) 3) | (>= f (+ 1 (f))) | (when (clear b1) (clear b2)) | (oneof (clear b1)) | (increase (total-cost) 1) |
    (at 5 (clear b1)) | (preference p (clear b1)) | (clear (b1)) | ((clear b1)) | (clear b1 b9) | (clear ?x) |
    (clear b1 clear) | (clear and) | (p.) | (p a?x) | () | (( ))""",
    "|",
)
SECTIONS = _listed(
    """(:metric minimize (total-cost)) | (:metric maximize (+ (f) 1)) | (:metric) | (:metricx) | (:constraints (and)) |
    (:objects a) | (:objects) | (:init) | (:goal (and)) | (:requirements) | (:requirements :strips) | (:length 3) |
    (:types a b) | (define (problem q) (:domain d) (:init) (:goal (and))) | (define (problem q) (:domain d) |
    (define (problem""",
    "|",
)
LISTINGS = _listed(
    "a a | a - b | a b - block c | a - (either b c) | - block | a -block | a- block | a - b - c | object - t",
    "|",
)


def mutate(text: str, chance: Random) -> str:
    """The text after one to four mutations, more often few than many."""
    tokens = re.findall(r"\s+|;[^\n]*|[()]|[^\s();]+", text)
    for _ in range(chance.choice([1, 1, 1, 2, 2, 3, 4])):
        tokens = chance.choice(MUTATIONS)(tokens, chance) or ["("]
    return "".join(tokens)


def soup(chance: Random) -> str:
    """A problem with one section of random words, the more interesting for its parentheses being balanced."""
    sections = {"requirements": ":strips", "objects": "a b - t", "init": "(p a b) (q)", "goal": "(and (p a b))"}
    spoilt = chance.choice([*sections, "goal", "goal"])
    operators = [
        "(and",
        "(or",
        "(not",
        "(imply",
        "(forall (?x)",
        "(exists (?x - t)",
        "(=",
        "(",
        ")",
        ")",
        "(p a b)",
        "(q)",
    ]
    pools = {
        "requirements": [*REQUIREMENTS, "(", ")"],
        "objects": ["a", "b", "c", "d", "-", "-", *WORDS, *LISTINGS],
        "init": ["(p a)", "(q)", "(not (q))", "(= (f a) 3)", "(", ")", "not", "=", *FORMULAS],
        "goal": [*operators, *operators, *operators, "a", "?x", "-", *FORMULAS],
    }
    sections[spoilt] = _balanced(" ".join(chance.choices(pools[spoilt], k=chance.randint(0, 9))))
    body = " ".join(f"(:{section} {content})" for section, content in sections.items())
    name = chance.choice([*["p"] * 9, "and", "p q", "1"])
    return f"(define (problem {name}) (:domain d) {body}{chance.choice(['', '', '', *SECTIONS])})"


def _balanced(text: str) -> str:
    depth, kept = 0, []
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            depth = 0
        else:
            kept.append(char)
    return "".join(kept) + ")" * depth


def _drop(tokens: Tokens, chance: Random) -> Tokens:
    at = chance.randrange(len(tokens))
    return tokens[:at] + tokens[at + chance.choice([1, 1, 1, 2, 5]) :]


def _double(tokens: Tokens, chance: Random) -> Tokens:
    at = chance.randrange(len(tokens))
    end = at + chance.choice([1, 1, 3, 10])
    return tokens[:end] + chance.choice([[], [" "]]) + tokens[at:]


def _swap(tokens: Tokens, chance: Random) -> Tokens:
    one = chance.randrange(len(tokens))
    other = chance.choice([min(one + chance.randint(1, 3), len(tokens) - 1), chance.randrange(len(tokens))])
    tokens = list(tokens)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return tokens


def _cut(tokens: Tokens, chance: Random) -> Tokens:
    at = chance.randrange(len(tokens))
    return chance.choice([tokens[:at], tokens[at:], [*tokens[:at], ")"], [*tokens[:at], "\n\n", *tokens]])


def _change_case(tokens: Tokens, chance: Random) -> Tokens:
    if chance.random() < 0.3:
        return [token.upper() for token in tokens]
    at = chance.randrange(len(tokens))
    return [*tokens[:at], chance.choice([str.upper, str.title, str.swapcase])(tokens[at]), *tokens[at + 1 :]]


def _change_space(tokens: Tokens, chance: Random) -> Tokens:
    if chance.random() < 0.2:
        return [chance.choice(SPACES) if token.isspace() else token for token in tokens]
    return _insert(tokens, chance, chance.choice(SPACES + NO_SPACES))


def _glue(tokens: Tokens, chance: Random) -> Tokens:
    share = chance.choice([0.01, 0.03, 0.3])
    return [token for token in tokens if not (token.isspace() and chance.random() < share)]


def _split(tokens: Tokens, chance: Random) -> Tokens:
    at = chance.randrange(len(tokens))
    middle = chance.randint(0, len(tokens[at]))
    between = chance.choice([" ", "\n", "-", " - ", "?", ";x\n"])
    return [*tokens[:at], tokens[at][:middle], between, tokens[at][middle:], *tokens[at + 1 :]]


def _comment(tokens: Tokens, chance: Random) -> Tokens:
    return _insert(tokens, chance, chance.choice(COMMENTS))


def _strange_word(tokens: Tokens, chance: Random) -> Tokens:
    word = chance.choice(chance.choice([WORDS, WORDS, KEYWORDS]))
    words = [at for at, old in enumerate(tokens) if not old.isspace() and old not in "()"]
    if not words or chance.random() < 0.4:
        return _insert(tokens, chance, f" {word} ")
    at = chance.choice(words)
    return [*tokens[:at], word, *tokens[at + 1 :]]


def _strange_piece(tokens: Tokens, chance: Random) -> Tokens:
    """A formula, section or listing before a parenthesis; every other time at the start or the end of a section."""
    near = [at - 1 for at, token in enumerate(tokens) if token.startswith(":") and at]
    near = near if chance.random() < 0.5 else [at for at, token in enumerate(tokens) if token == "("]
    at = chance.choice(near or [0])
    return [*tokens[:at], " ", chance.choice(chance.choice([FORMULAS, SECTIONS, LISTINGS])), " ", *tokens[at:]]


def _other_goal(tokens: Tokens, chance: Random) -> Tokens:
    operator = chance.choice(["and", "and", "or", "not", "imply"])
    formulas = " ".join(chance.choices(FORMULAS, k=chance.randint(0, 3)))
    return [*tokens[: _position(":goal", tokens)], f" ({operator} {formulas})))"]


def _requirements(tokens: Tokens, chance: Random) -> Tokens:
    at = _position(":requirements", tokens)
    return [*tokens[:at], " ", " ".join(chance.choices(REQUIREMENTS, k=chance.randint(0, 3))), *tokens[at:]]


def _types(tokens: Tokens, chance: Random) -> Tokens:
    at = _position(":objects", tokens) + chance.randint(0, 9)
    type_ = chance.choice([" - block ", " - b - c", " -block ", " - object ", " - ", "- t", " - (either a b)"])
    return [*tokens[:at], type_, *tokens[at:]]


def _move_section(tokens: Tokens, chance: Random) -> Tokens:
    sections = [at - 1 for at, token in enumerate(tokens) if token.startswith(":") and at and tokens[at - 1] == "("]
    if len(sections) < 3:
        return tokens
    one, other, third = sorted(chance.sample(sections, 3))
    return tokens[:one] + tokens[other:third] + tokens[one:other] + tokens[third:]


def _answer(tokens: Tokens, chance: Random) -> Tokens:
    """What models write around a problem."""
    before = chance.choice(
        [
            "Here is the problem (in PDDL):\n\n```pddl\n",
            "(define (domain d)\n (:requirements :strips)\n (:predicates (on ?x ?y)))\n\n",
            "I would write `(define (problem ...)` first; then\n",
            "(define (problem draft) (:domain d) (:init (a)) (:goal (not (a))))\n",
            "(define (problem draft) (:domain d) (:objects x - t) (:init (p x y)) (:goal (and)))\n",
            "; (define (problem draft) (:domain d) (:init) ; (\n (:goal (and)))\n",
            "(( ",
        ]
    )
    return [
        before,
        *tokens,
        chance.choice(["", "\n```\nI hope (this) helps :)", ")", "\n(define (problem late) (:domain d)"]),
    ]


def _insert(tokens: Tokens, chance: Random, token: str) -> Tokens:
    at = chance.randrange(len(tokens) + 1)
    return [*tokens[:at], token, *tokens[at:]]


def _position(keyword: str, tokens: Tokens) -> int:
    """The position after the keyword, or the end."""
    return next((at + 1 for at, token in enumerate(tokens) if token.lower() == keyword), len(tokens))


MUTATIONS: list[Callable[[Tokens, Random], Tokens]] = [
    _drop,
    _double,
    _swap,
    _cut,
    _change_case,
    _change_space,
    _glue,
    _split,
    _comment,
    _strange_word,
    _strange_piece,
    _other_goal,
    _requirements,
    _types,
    _move_section,
    _answer,
]


def reference_texts() -> list[str]:
    """The problem texts of the Planetarium dataset, each once; none where ``../shared`` is absent."""
    if not SHARED_PROBLEMS.exists():
        return []
    import pyarrow.parquet

    column = pyarrow.parquet.read_table(SHARED_PROBLEMS, columns=["problem_pddl"])["problem_pddl"]
    return sorted(column.unique().to_pylist())


def differ(text: str) -> str:
    """What the two readers say differently of a text; empty where they agree on verdict and problem."""
    fast, slow = problems.read_problem(text), read_problem_by_package(text)
    if isinstance(fast, Unreadable) or isinstance(slow, Unreadable):
        same = getattr(fast, "verdict", None) == getattr(slow, "verdict", None)
    else:
        same = fast == slow and list(fast.objects) == list(slow.objects)
    return "" if same else f"{text!r}\n  read_problem:            {fast}\n  read_problem_by_package: {slow}"


def main(count: int, seed: int) -> int:
    """Compare the readers on so many texts, a quarter of them soup; the answer is the number of disagreements."""
    references = reference_texts()
    tally: Counter[str] = Counter()
    for number in range(seed, seed + count):
        chance = Random(number)
        base = chance.choice(references if references and chance.random() < 0.7 else OWN_PROBLEMS)
        text = soup(chance) if number % 4 == 0 else mutate(base, chance)
        with mock.patch.object(problems, "read_by_package", wraps=problems.read_by_package) as package:
            outcome = problems.read_problem(text)
        tally["accepted" if isinstance(outcome, Problem) else outcome.verdict] += 1
        tally["decided without the package"] += not package.called
        difference = differ(text)
        if difference:
            tally["DISAGREEMENTS"] += 1
            print(number, difference)
    print(count, dict(tally))
    return tally["DISAGREEMENTS"]


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0), 1))
