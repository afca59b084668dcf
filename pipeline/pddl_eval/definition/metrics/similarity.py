"""σ of T-Eval's plan score: how alike two names or two argument lists are, from 0 to 1.

All that needs sentence-transformers (the extra ``pddl-eval[embedding]``) is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pddl_eval.definition.budget import spend
from pddl_eval.errors import UserError

EMBEDDING = "embedding:"

MAX_CHARACTERS = 1_000
"""Of each text, these first characters are compared, except by ``exact``."""

MAX_CACHED = 100_000
"""Texts whose embeddings are kept; at 384 numbers of 4 bytes some 150 MB."""

_EMBEDDINGS: dict[tuple[str, str], Any] = {}


def similarities(name: str, first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
    """How alike each text of one list is to each of another, by the similarity of that name.

    * ``exact``: 1 for equal texts, else 0.
    * ``lexical``: rapidfuzz's normalized Indel similarity (its ``fuzz.ratio``): twice the longest common subsequence
      of characters over both lengths. Two empty texts are equal.
    * ``embedding:MODEL``: cosine of sentence-transformers embeddings, negative ones 0, as T-Eval; MODEL is a name or a
      folder. An empty text is like empty texts only.

    >>> similarities("lexical", ["pick up"], ["pick down", "drop"])
    [[0.625, 0.18181818181818177]]
    """
    if name == "exact":
        return [[float(one == other) for other in second] for one in first]
    first, second = ([text[:MAX_CHARACTERS] for text in texts] for texts in (first, second))
    if name == "lexical":
        from rapidfuzz.distance import Indel  # Here: a tenth of the time to a first verdict, which may be on problems.

        table = []
        for one in first:
            table.append([Indel.normalized_similarity(one, other) for other in second])
            spend(10)
        return table
    vectors = embed(name, (*first, *second))

    def cosine(one: str, other: str) -> float:
        if one == other or not one or not other:
            return float(one == other)
        return min(1.0, max(0.0, float(vectors[one] @ vectors[other])))

    return [[cosine(one, other) for other in second] for one in first]


def embed(name: str, texts: Iterable[str]) -> dict[str, Any]:
    """The unit vectors of the texts that are not empty, those that were not embedded before in one batch."""
    wanted = {text[:MAX_CHARACTERS] for text in texts} - {""}
    new = sorted(text for text in wanted if (name, text) not in _EMBEDDINGS)
    if len(_EMBEDDINGS) + len(new) > MAX_CACHED:
        _EMBEDDINGS.clear()
        new = sorted(wanted)
    if new:
        vectors = _model(name).encode(new, normalize_embeddings=True, show_progress_bar=False)
        _EMBEDDINGS.update({(name, text): vector for text, vector in zip(new, vectors, strict=True)})
    return {text: _EMBEDDINGS[name, text] for text in wanted}


@cache
def _model(name: str) -> Any:
    from sentence_transformers import SentenceTransformer  # an extra, and seconds to import

    model = name.removeprefix(EMBEDDING)
    try:
        return SentenceTransformer(model)
    except (OSError, ValueError, RuntimeError) as error:  # No such model, no network, no PyTorch for its files.
        raise UserError(f"the model {model} cannot be loaded: {error}") from error
