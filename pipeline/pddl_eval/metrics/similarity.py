"""σ of T-Eval's plan score: how alike two names or two argument lists are, from 0 to 1.

A similarity compares every text of one list with every text of another, so that what compares in batches can. All that
needs sentence-transformers (the extra ``pddl-eval[embedding]``) is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

from rapidfuzz.distance import Indel

from pddl_eval.errors import UserError
from pddl_eval.options import SIMILARITIES

Similarity = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]

EMBEDDING = "embedding:"

MAX_CHARACTERS = 1_000
"""Of each text, these first characters are compared."""

MAX_CACHED = 100_000
"""Texts whose embeddings are kept; at 384 numbers of 4 bytes some 150 MB."""

_EMBEDDINGS: dict[tuple[str, str], Any] = {}


def similarity_named(name: str) -> Similarity:
    """The similarity that a setting means.

    * ``exact``: 1 for equal texts, else 0.
    * ``lexical``: rapidfuzz's normalized Indel similarity (its ``fuzz.ratio``): twice the longest common subsequence
      of characters over both lengths. Two empty texts are equal.
    * ``embedding:MODEL``: cosine of sentence-transformers embeddings, negative ones 0, as T-Eval; MODEL is a name or a
      folder. An empty text is like empty texts only. Needs the extra ``pddl-eval[embedding]``.

    Raises ``UserError`` for any other name, and where the extra is missing.

    >>> similarity_named("lexical")(["pick up"], ["pick down", "drop"])
    [[0.625, 0.18181818181818177]]
    """
    if name == "exact":
        return _exact
    if name == "lexical":
        return _lexical
    if name.startswith(EMBEDDING) and len(name) > len(EMBEDDING):
        _loaded(name.removeprefix(EMBEDDING))
        return partial(_embedded, name.removeprefix(EMBEDDING))
    raise UserError(f"no similarity is named {name!r}: choose {', '.join(SIMILARITIES)}")


def prepare(name: str, texts: Iterable[str]) -> None:
    """Embed many texts in one go, ahead of the pairs that need them; does nothing for the other similarities."""
    if name.startswith(EMBEDDING):
        embed(name.removeprefix(EMBEDDING), {text[:MAX_CHARACTERS] for text in texts})


def embed(model: str, texts: Iterable[str]) -> dict[str, Any]:
    """The unit vectors of the texts that are not empty, those that were not embedded before in one batch."""
    wanted = set(texts) - {""}
    new = sorted(text for text in wanted if (model, text) not in _EMBEDDINGS)
    if len(_EMBEDDINGS) + len(new) > MAX_CACHED:
        _EMBEDDINGS.clear()
        new = sorted(wanted)
    if new:
        vectors = _loaded(model).encode(new, normalize_embeddings=True, show_progress_bar=False)
        _EMBEDDINGS.update({(model, text): vector for text, vector in zip(new, vectors, strict=True)})
    return {text: _EMBEDDINGS[model, text] for text in wanted}


def _exact(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    return [[1.0 if a == b else 0.0 for b in second] for a in first]


def _lexical(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    cut = [text[:MAX_CHARACTERS] for text in second]
    return [[Indel.normalized_similarity(a[:MAX_CHARACTERS], b) for b in cut] for a in first]


def _embedded(model: str, first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    first, second = ([text[:MAX_CHARACTERS] for text in texts] for texts in (first, second))
    vectors = embed(model, {*first, *second})

    def alike(one: str, other: str) -> float:
        if one == other or not one or not other:
            return float(one == other)
        return min(1.0, max(0.0, float(vectors[one] @ vectors[other])))

    return [[alike(one, other) for other in second] for one in first]


@cache
def _loaded(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer  # an extra, and seconds to import
    except ImportError as error:
        raise UserError("similarity embedding:… needs the extra: pip install 'pddl-eval[embedding]'") from error
    return SentenceTransformer(model)
