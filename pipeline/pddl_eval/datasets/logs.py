"""What the readers of logs share: an answer, the records of a log, and values that may be anything.

A log is somebody's file: each line or sample is bounded, and one that cannot be read becomes a row without an answer,
with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyarrow.fs import FileType

from pddl_eval.datasets.lines import Damaged, json_object, split
from pddl_eval.datasets.places import DatasetError, Location, dataset_errors
from pddl_eval.shown import line

RECORD_BYTES = 64 * 2**20
"""A line or sample that is longer is damaged: parsed JSON takes some ten times the memory of its text."""

WHOLE_BYTES = 512 * 2**20
"""Largest log that is one JSON document, which is read as a whole."""

QUESTION_IDS = ("reference_id", "id")
"""Fields of a question that identify it, where none is named."""

SMALL_BYTES = 2**20
"""Largest configuration, domain or instance of PlanBench."""


@dataclass(slots=True)
class Answer:
    """One answer: ``sample`` counts those of a model to one question from 1; ``question`` is what the log says of it.

    ``error`` says why there is no text, ``recorded`` whether the harness took the answer for right.
    """

    id: str | None = None
    model: str | None = None
    task: str | None = None
    sample: int = 1
    text: str | None = None
    error: str | None = None
    target: str | None = None
    question: Mapping[str, Any] = field(default_factory=dict)
    recorded: bool | None = None


Read = Callable[[Location, Sequence[str]], Iterator[Answer]]
"""The answers in a log; the names are the question's fields that identify it."""


@dataclass(frozen=True, slots=True)
class Harness:
    """How the logs of a harness are called within a folder, how one is read, and what its answers usually are."""

    files: tuple[str, ...]
    read: Read
    kind: str = "problem"


def records(place: Location) -> Iterator[dict[str, Any] | Damaged]:
    """The objects of a file of JSON Lines, compressed or not; of a line that is none, which it is and why."""
    with dataset_errors(place, "read"), place.filesystem.open_input_stream(place.path) as stream:
        for number, text in enumerate(split(stream, RECORD_BYTES), 1):
            try:
                if text is None:
                    raise Damaged(f"has more than {RECORD_BYTES:,} bytes")
                if text and not text.isspace():
                    yield json_object(text)
            except Damaged as error:
                yield Damaged(f"line {number:,} of {place.name} {error}")


def document(place: Location, what: str) -> dict[str, Any]:
    """The object that a file is as a whole; raises ``DatasetError`` where it cannot be opened or is no such thing."""
    with dataset_errors(place, "read"), place.filesystem.open_input_file(place.path) as file:
        try:
            if file.size() > WHOLE_BYTES:
                raise Damaged(
                    f"has more than {WHOLE_BYTES:,} bytes; Inspect converts it: inspect log convert --to eval"
                )
            return json_object(file.read())
        except Damaged as error:
            raise DatasetError(f"{place} is no {what}: it {error}.") from None


def as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any, otherwise: str | None = None) -> str | None:
    return value if isinstance(value, str) else otherwise


def joined(content: Any) -> str | None:
    """A message's text, which may come in parts; None where it has none."""
    if isinstance(content, list):
        parts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if texts else None
    return as_text(content)


def error_line(error: Any) -> str | None:
    """What an error says, in one line."""
    if not error:
        return None
    found = as_mapping(error)
    told = found.get("message") or found.get("code") or found.get("type") or error
    return line(told if isinstance(told, str) else json.dumps(told, default=str), 300)


def as_id(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # What a column of integers becomes where some are missing.
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def identity_of(
    question: Mapping[str, Any], on: Sequence[str], own: Any, known: Sequence[str] = QUESTION_IDS
) -> str | None:
    """The id of a question: the fields that were named, if it has them, else a usual one, else the log's own id."""
    if on and all(name in question for name in on):
        return join_key(question[name] for name in on)
    name = None if on else next((name for name in known if as_id(question.get(name)) is not None), None)
    return as_id(question[name] if name else own)


def join_key(values: Any) -> str | None:
    """One text for the values of a key; None where one of them is missing.

    >>> join_key([17]), join_key(["a", None])
    ('17', None)
    >>> join_key(["a", 1])
    '["a", "1"]'
    """
    texts = [as_id(value) for value in values]
    # A value may hold anything: of several, each is quoted.
    return None if None in texts else str(texts[0]) if len(texts) == 1 else json.dumps(texts, ensure_ascii=False)


def small_text(place: Location) -> str | None:
    """The text of a small file; None where it is not there, or not small."""
    with dataset_errors(place, "read"):
        info = place.filesystem.get_file_info(place.path)
        if info.type != FileType.File or info.size > SMALL_BYTES:
            return None
        with place.filesystem.open_input_stream(place.path) as stream:
            text: str = stream.read().decode("utf-8", "replace")
            return text
