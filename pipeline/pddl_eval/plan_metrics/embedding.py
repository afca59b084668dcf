"""The optional similarity by sentence embeddings: a model loaded once a process, each text embedded once.

Everything that needs sentence-transformers (the extra ``pddl-eval[embedding]``) is here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pddl_eval.plan_metrics.similarity import MAX_CHARACTERS, Similarity

MAX_CACHED = 100_000
"""Texts whose embeddings are kept; at 384 numbers of 4 bytes some 150 MB."""

_EMBEDDINGS: dict[tuple[str, str], Any] = {}


def embedding_similarity(model: str) -> Similarity:
    """Cosine similarity of the model's embeddings, negative values 0. An empty text is like empty texts only."""
    _loaded(model)

    def similarity(first: Sequence[str], second: Sequence[str]) -> list[list[float]]:
        first, second = ([text[:MAX_CHARACTERS] for text in texts] for texts in (first, second))
        vectors = embed(model, {*first, *second})

        def alike(one: str, other: str) -> float:
            if one == other or not one or not other:
                return float(one == other)
            return min(1.0, max(0.0, float(vectors[one] @ vectors[other])))

        return [[alike(one, other) for other in second] for one in first]

    return similarity


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


@cache
def _loaded(model: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ImportError("similarity embedding:… needs the extra: pip install 'pddl-eval[embedding]'") from error
    return SentenceTransformer(model)
