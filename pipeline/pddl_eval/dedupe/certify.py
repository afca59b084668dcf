"""Certificates of many texts, in order, in this process or in several; one hopeless text costs one text."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from multiprocessing import get_context
from typing import NamedTuple

from pddl_eval.domains import planning_domain
from pddl_eval.engines.runner import EngineError
from pddl_eval.equivalence.certificate import certificate_of
from pddl_eval.parsing import Unreadable, read_problem
from pddl_eval.verdict import Undecided

CHUNK_TEXTS = 256
CHUNK_CHARACTERS = 4_000_000
"""What a worker is given at a time: at most so many texts, and no further text beyond so many characters."""


class ProblemText(NamedTuple):
    """A problem's text and its domain: a known name, a PDDL text, or None for the one that the text names."""

    text: str
    domain: str | None


class Certified(NamedTuple):
    """A certificate, or None with the kind of obstacle (a verdict's name, or ``failed``) and its reason."""

    certificate: str | None
    obstacle: str | None = None
    reason: str | None = None


def certify_text(text: ProblemText, is_placeholder: bool = False) -> Certified:
    """The certificate of the problem in a text, or why it has none.

    >>> certify_text(ProblemText("Sorry, I cannot do that.", None)).obstacle
    'unparseable'
    """
    try:
        given = planning_domain(text.domain) if text.domain is not None else None
        problem = read_problem(text.text, given.domain.constants if given else ())
        if isinstance(problem, Unreadable):
            return Certified(None, problem.verdict, problem.detail)
        domain = given if text.domain is not None else planning_domain(problem.domain)
        found = certificate_of(problem, domain, is_placeholder)
    except Exception as error:  # a mistake in this program or in one row's domain must not cost the other rows
        return Certified(None, "failed", f"{type(error).__name__}: {error}")
    return Certified(None, "undecided", found.reason) if isinstance(found, Undecided) else Certified(found)


def certify_texts(texts: Iterable[ProblemText], is_placeholder: bool, workers: int) -> Iterator[Certified]:
    """The certificate of each text, in order; ``texts`` is drawn from as workers need more.

    Raises ``EngineError`` where a worker process dies.
    """
    certify_chunk = partial(_certify_chunk, is_placeholder=is_placeholder)
    chunks = _chunks(texts)
    if workers == 1:
        yield from chain.from_iterable(map(certify_chunk, chunks))
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[list[Certified]]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(certify_chunk, chunk))
                if len(waiting) > 2 * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise EngineError("A worker process was lost, perhaps for lack of memory: try fewer workers.") from None
        finally:
            pool.shutdown(cancel_futures=True)


def _certify_chunk(chunk: list[ProblemText], is_placeholder: bool) -> list[Certified]:
    return [certify_text(text, is_placeholder) for text in chunk]


def _chunks(texts: Iterable[ProblemText]) -> Iterator[list[ProblemText]]:
    chunk: list[ProblemText] = []
    characters = 0
    for text in texts:
        chunk.append(text)
        characters += len(text.text)
        if len(chunk) == CHUNK_TEXTS or characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk
