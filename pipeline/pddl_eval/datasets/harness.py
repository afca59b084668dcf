"""Logs of evaluation harnesses as rows: the model, its answer, and what the log says of the question.

Read are sample files of lm-evaluation-harness, logs of Inspect (``.eval`` and ``.json``), JSON Lines in the form of
OpenAI's batches (chat completions, completions, responses), the result files of PlanBench (``planbench``) and the
questions of ACPBench (``acpbench``).
"""

from __future__ import annotations

import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import IO, Any

import pyarrow as pa

from pddl_eval.columns import PLAIN_NAMES, QUESTION_SIDE, REFERENCE_SIDE
from pddl_eval.datasets.acpbench import PUBLISHED, asked, read_acpbench
from pddl_eval.datasets.forms import FileVersion, InputFile
from pddl_eval.datasets.inputs import Input, Source, find_files
from pddl_eval.datasets.lines import Damaged, json_object
from pddl_eval.datasets.logs import (
    RECORD_BYTES,
    Answer,
    Harness,
    as_id,
    as_list,
    as_mapping,
    as_text,
    document,
    error_line,
    identity_of,
    joined,
    records,
)
from pddl_eval.datasets.places import DatasetError, Location, Unavailable, dataset_errors
from pddl_eval.datasets.planbench import ASKED, read_planbench
from pddl_eval.shown import line

ZSTANDARD = 93
"""The method of compression that Inspect writes into ZIP archives. Python reads it from 3.14 on."""

ATTACHMENT = "attachment://"

MOST_EPOCHS = 2**31
"""A larger number of an epoch is a mistake."""


def find_logs(inputs: Input, harness: Harness) -> Source:
    """The logs: files as they are named, of folders those that are called like logs of the harness.

    Raises ``DatasetError`` where there are none.
    """

    def of_folder(folder: Location, paths: Iterable[str]) -> list[str]:
        named = [path for path in paths if any(fnmatchcase(posixpath.basename(path), each) for each in harness.files)]
        if not named:
            raise DatasetError(f"{folder} holds no logs of this harness, such as {harness.files[0]}.")
        return named

    found = find_files(inputs, of_folder)
    paths = sorted({path for each in found for path in each.paths})
    base = replace(found[0].folder, path=posixpath.commonpath([posixpath.dirname(path) for path in paths]))
    files = []
    for place in (replace(base, path=path) for path in paths):
        with dataset_errors(place, "read"):
            size = place.filesystem.get_file_info(place.path).size
        files.append(InputFile(FileVersion(place, ""), posixpath.relpath(place.path, base.path), size, ()))
    return Source(base, (), tuple(files), pa.schema([]))


def read_lm_eval(place: Location, on: Sequence[str]) -> Iterator[Answer]:
    """The answers in a sample file of lm-evaluation-harness, as the model gave them: before any filter.

    A file holds all questions once for each filter; those of the first one count. The model's name is in the results
    beside the file, else it is the folder's name.
    """
    named = re.fullmatch(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[^.]*(?:\.\d+)?))?\.jsonl.*", place.name)
    task, date = named.groups() if named else (None, None)
    model, first = _lm_eval_model(place, date), None
    for record in records(place):
        if isinstance(record, Damaged):
            yield Answer(model=model, task=task, error=str(record))
            continue
        first = record.get("filter") if first is None else first
        if record.get("filter") != first:
            continue
        question = as_mapping(record.get("doc"))
        identity = identity_of(question, on, record.get("doc_id"))
        target = as_text(record.get("target"))
        responses = [text for each in as_list(record.get("resps")) for text in as_list(each)]
        if not responses:
            yield Answer(identity, model, task, error="no response", target=target, question=question)
        for sample, response in enumerate(responses, 1):
            text = response if isinstance(response, str) else None
            error = None if text is not None else f"the response is no text: {line(repr(response), 100)}"
            yield Answer(identity, model, task, sample, text, error, target, question)


def _lm_eval_model(place: Location, date: str | None) -> str | None:
    name = None
    try:
        name = date and as_text(document(place.parent / f"results_{date}.json", "result file").get("model_name"))
    except Unavailable:  # It may be there, and name the model.
        raise
    except DatasetError:
        pass  # There are no results where the samples were copied alone.
    return name or place.parent.name or None


def read_inspect(place: Location, on: Sequence[str]) -> Iterator[Answer]:
    """The answers in a log of Inspect, one for each sample and epoch, or for each of its choices."""
    if place.name.endswith(".eval"):
        yield from _inspect_archive(place, on)
        return
    log = document(place, "log of Inspect")
    if not isinstance(log.get("eval"), dict):
        raise DatasetError(f"{place} is no log of Inspect: it has no entry eval.")
    for sample in as_list(log.get("samples")):
        yield from _inspect_answers(as_mapping(sample), log, on)


def _inspect_archive(place: Location, on: Sequence[str]) -> Iterator[Answer]:
    with dataset_errors(place, "read"), place.filesystem.open_input_file(place.path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                names = dict.fromkeys(archive.namelist())
                head = next((each for each in ("header.json", "_journal/start.json") if each in names), None)
                if head is None:
                    raise DatasetError(f"{place} is no log of Inspect: it has no header.")
                log = json_object(_member(archive, file, head))
                for name in (each for each in names if each.startswith("samples/") and each.endswith(".json")):
                    try:
                        sample = json_object(_member(archive, file, name))
                    except Damaged as error:
                        yield Answer(None, *_inspect_names(log), error=f"{line(name)} of {place.name} {error}")
                    else:
                        yield from _inspect_answers(sample, log, on)
        except DatasetError:
            raise
        except (zipfile.BadZipFile, RuntimeError, EOFError, ValueError) as error:
            raise DatasetError(f"{place} is no log of Inspect that can be read: {line(str(error))}.") from None


def _member(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> bytes:
    """The content of a member; raises ``Damaged`` where it is too large, broken, encrypted or in an unknown form."""
    try:
        return _unpacked(archive, file, name)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, EOFError, OSError) as error:
        raise Damaged(f"cannot be read: {line(str(error), 100)}") from None


def _unpacked(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> bytes:
    """The content of a member, also of one in Zstandard."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        with archive.open(info) as member:
            return _bounded(member)
    file.seek(info.header_offset)
    header = file.read(30)  # Fixed fields of a local header; the lengths of name and extra field end it.
    if header[:4] != b"PK\x03\x04":
        raise Damaged("is not where the archive says")
    file.seek(
        info.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    )
    if info.compress_size > RECORD_BYTES:
        raise Damaged(f"has more than {RECORD_BYTES:,} bytes")
    with pa.CompressedInputStream(pa.BufferReader(file.read(info.compress_size)), "zstd") as member:
        return _bounded(member)


def _bounded(stream: Any) -> bytes:
    content: bytes = stream.read(RECORD_BYTES + 1)
    if len(content) > RECORD_BYTES:
        raise Damaged(f"has more than {RECORD_BYTES:,} bytes")
    return content


def _inspect_names(log: Mapping[str, Any]) -> tuple[str | None, str | None]:
    about = as_mapping(log.get("eval"))
    return as_text(about.get("model")), as_text(about.get("task"))


def _inspect_answers(sample: Mapping[str, Any], log: Mapping[str, Any], on: Sequence[str]) -> Iterator[Answer]:
    attachments = as_mapping(sample.get("attachments"))

    def whole(value: Any) -> str | None:
        """A text. Inspect may keep a long one apart, as an attachment."""
        text = joined(value)
        if text is not None and text.startswith(ATTACHMENT):
            return as_text(attachments.get(text.removeprefix(ATTACHMENT)), text)
        return text

    question = {"input": whole(sample.get("input")), **as_mapping(sample.get("metadata"))}
    identity = identity_of(question, on, sample.get("id"), ("reference_id",))
    model, task = _inspect_names(log)
    target = whole(sample.get("target"))
    output = as_mapping(sample.get("output"))
    choices = [as_mapping(choice) for choice in as_list(output.get("choices"))]
    texts = [whole(as_mapping(choice.get("message")).get("content")) for choice in choices] or [None]
    if len(texts) == 1 and not texts[0]:
        texts = [whole(output.get("completion"))]
    error = error_line(sample.get("error")) or error_line(output.get("error"))
    if not choices and error is None:
        error = error_line(sample.get("limit")) or "no output"
    epoch = sample.get("epoch")
    before = (epoch - 1) * len(texts) if isinstance(epoch, int) and 1 <= epoch <= MOST_EPOCHS else 0
    for number, text in enumerate(texts, before + 1):
        yield Answer(identity, model, task, number, text or (None if error else text), error, target, question)


def read_openai(place: Location, _on: Sequence[str]) -> Iterator[Answer]:
    """The answers in the output of a batch: chat completions, completions or responses; the id is ``custom_id``.

    A request that failed says no model; a batch is of one, so that it counts as that one's.
    """

    def body_of(record: Any) -> Mapping[str, Any]:
        return as_mapping(as_mapping(as_mapping(record).get("response")).get("body"))

    models = {as_text(body_of(record).get("model")) for record in records(place)} - {None}
    of_all = models.pop() if len(models) == 1 else None
    for record in records(place):
        if isinstance(record, Damaged):
            yield Answer(model=of_all, error=str(record))
            continue
        response, body = as_mapping(record.get("response")), body_of(record)
        identity, model = as_id(record.get("custom_id")), as_text(body.get("model"), of_all)
        error = error_line(record.get("error")) or error_line(body.get("error"))
        if error is None and response.get("status_code", 200) != 200:
            error = f"status {line(str(response.get('status_code')), 20)}"
        answers = list(_openai_answers(body))
        if not answers:
            yield Answer(identity, model, error=error or "no answer in the response")
        for sample, (text, refusal) in enumerate(answers, 1):
            yield Answer(identity, model, None, sample, text, error or refusal)


def _openai_answers(body: Mapping[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    """Each answer in a response, and why it has no text."""
    for choice in map(as_mapping, as_list(body.get("choices"))):
        message = as_mapping(choice.get("message"))
        text = joined(message.get("content")) if message else as_text(choice.get("text"))
        refusal = as_text(message.get("refusal")) or f"finished with {line(str(choice.get('finish_reason')), 40)}"
        yield text, None if text is not None else refusal
    messages = [each for each in map(as_mapping, as_list(body.get("output"))) if each.get("type") == "message"]
    if messages:
        parts = [part for each in messages for part in map(as_mapping, as_list(each.get("content")))]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        refusal = next((part["refusal"] for part in parts if isinstance(part.get("refusal"), str)), "no text")
        yield ("".join(texts), None) if texts else (None, refusal)


HARNESSES: Mapping[str, Harness] = {
    "lm-eval": Harness(("samples_*.jsonl", "samples_*.jsonl.*"), read_lm_eval),
    "inspect": Harness(("*.eval", "20??-??-??T*.json"), read_inspect),
    "openai": Harness(("*.jsonl", "*.jsonl.*"), read_openai),
    "planbench": Harness(tuple(f"{task}*.json" for task in ASKED), read_planbench, "plan"),
    "acpbench": Harness(PUBLISHED, read_acpbench),
}
"""The harnesses by the names of ``options.HARNESSES``."""


def meant(question: Mapping[str, Any], task: str | None = None, target: str | None = None) -> dict[str, Any]:
    """What a log says of a question in fields with a meaning (DESIGN.md, section 2), by meaning.

    >>> meant({"problem_pddl": "(define …)", "is_placeholder": 1, "natural_language": "Stack a on b."})
    {'reference_problem': '(define …)', 'is_placeholder': True}
    """
    if found := asked(question, task, target):
        return dict(found)
    for name, value in question.items():
        meaning = PLAIN_NAMES.get(name, name)
        if meaning not in (*REFERENCE_SIDE, *QUESTION_SIDE) or meaning in found:
            continue
        if meaning == "is_placeholder":
            if value in (0, 1):
                found[meaning] = bool(value)
        # Elsewhere a question is a sentence.
        elif isinstance(value, str) and (meaning != "question" or re.fullmatch("[a-z_]{1,40}", value)):
            found[meaning] = value
    return found
