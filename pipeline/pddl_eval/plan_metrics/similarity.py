"""σ of T-Eval's plan score: how alike two names or two argument lists are, from 0 to 1.

A similarity compares every text of one list with every text of another, so that what compares in batches can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pddl_eval.errors import UserError

Similarity = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]

EMBEDDING = "embedding:"

MAX_CHARACTERS = 1_000
"""Of each text, these first characters are compared."""


def similarity_named(name: str) -> Similarity:
    """The similarity that a setting means.

    * ``exact``: 1 for equal texts, else 0.
    * ``lexical``: rapidfuzz's normalized Indel similarity (its ``fuzz.ratio``): twice the longest common subsequence
      of characters over both lengths. Two empty texts are equal.
    * ``embedding:MODEL``: cosine of sentence-transformers embeddings, negative ones 0, as T-Eval; MODEL is a name or a
      folder. Needs the extra ``pddl-eval[embedding]``.

    Raises ``ValueError`` for any other name, ``ImportError`` where the extra is missing.

    >>> similarity_named("lexical")(["pick up"], ["pick down", "drop"])
    [[0.625, 0.18181818181818177]]
    """
    if name == "exact":
        return _exact
    if name == "lexical":
        return _lexical
    if name.startswith(EMBEDDING) and len(name) > len(EMBEDDING):
        from pddl_eval.plan_metrics.embedding import embedding_similarity

        return embedding_similarity(name.removeprefix(EMBEDDING))
    raise UserError(f"no similarity is named {name!r}: choose exact, lexical, or embedding:MODEL")


def prepare(name: str, texts: Iterable[str]) -> None:
    """Embed many texts in one go, ahead of the pairs that need them; does nothing for the other similarities."""
    if name.startswith(EMBEDDING):
        from pddl_eval.plan_metrics.embedding import embed

        embed(name.removeprefix(EMBEDDING), {text[:MAX_CHARACTERS] for text in texts})


def _exact(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    return [[1.0 if a == b else 0.0 for b in second] for a in first]


def _lexical(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    from rapidfuzz.distance import Indel

    cut = [text[:MAX_CHARACTERS] for text in second]
    return [[Indel.normalized_similarity(a[:MAX_CHARACTERS], b) for b in cut] for a in first]
