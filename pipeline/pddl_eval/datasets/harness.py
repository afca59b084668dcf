"""Logs of evaluation harnesses as rows: the model, its answer, and what the log says of the question.

Read are sample files of lm-evaluation-harness, logs of Inspect (``.eval`` and ``.json``), JSON Lines in the form of
OpenAI's batches (chat completions, completions, responses) and the result files of PlanBench, with its instances. A log
is somebody's file: each line or sample is bounded, and one that cannot be read becomes a row without an answer, with
the reason.
"""

from __future__ import annotations

import json
import lzma
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import IO, Any

import pyarrow as pa
from pyarrow.fs import FileType

from pddl_eval.columns import PLAIN_NAMES, REFERENCE_SIDE
from pddl_eval.datasets.forms import FileVersion, InputFile
from pddl_eval.datasets.inputs import Input, Source, find_files
from pddl_eval.datasets.lines import Damaged, json_object, split
from pddl_eval.datasets.places import DatasetError, Location, Unavailable, dataset_errors
from pddl_eval.shown import line

RECORD_BYTES = 64 * 2**20
"""A line or sample that is longer is damaged: parsed JSON takes some ten times the memory of its text."""

WHOLE_BYTES = 512 * 2**20
"""Largest log that is one JSON document, which is read as a whole."""

QUESTION_IDS = ("reference_id", "id")
"""Fields of a question that identify it, where none is named."""

ZSTANDARD = 93
"""The method of compression that Inspect writes into ZIP archives. Python reads it from 3.14 on."""

ATTACHMENT = "attachment://"

SMALL_BYTES = 2**20
"""Largest configuration, domain or instance of PlanBench."""

MOST_EPOCHS = 2**31
"""A larger number of an epoch is a mistake."""


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
    for record in _records(place):
        if isinstance(record, Damaged):
            yield Answer(model=model, task=task, error=str(record))
            continue
        first = record.get("filter") if first is None else first
        if record.get("filter") != first:
            continue
        question = _mapping(record.get("doc"))
        identity = _identity(question, on, record.get("doc_id"))
        target = _text(record.get("target"))
        responses = [text for each in _sequence(record.get("resps")) for text in _sequence(each)]
        if not responses:
            yield Answer(identity, model, task, error="no response", target=target, question=question)
        for sample, response in enumerate(responses, 1):
            text = response if isinstance(response, str) else None
            error = None if text is not None else f"the response is no text: {line(repr(response), 100)}"
            yield Answer(identity, model, task, sample, text, error, target, question)


def _lm_eval_model(place: Location, date: str | None) -> str | None:
    name = None
    try:
        name = date and _text(_document(place.parent / f"results_{date}.json", "result file").get("model_name"))
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
    log = _document(place, "log of Inspect")
    if not isinstance(log.get("eval"), dict):
        raise DatasetError(f"{place} is no log of Inspect: it has no entry eval.")
    for sample in _sequence(log.get("samples")):
        yield from _inspect_answers(_mapping(sample), log, on)


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
    about = _mapping(log.get("eval"))
    return _text(about.get("model")), _text(about.get("task"))


def _inspect_answers(sample: Mapping[str, Any], log: Mapping[str, Any], on: Sequence[str]) -> Iterator[Answer]:
    attachments = _mapping(sample.get("attachments"))

    def whole(value: Any) -> str | None:
        """A text. Inspect may keep a long one apart, as an attachment."""
        text = _joined(value)
        if text is not None and text.startswith(ATTACHMENT):
            return _text(attachments.get(text.removeprefix(ATTACHMENT)), text)
        return text

    question = _mapping(sample.get("metadata"))
    identity = _identity(question, on, sample.get("id"), ("reference_id",))
    model, task = _inspect_names(log)
    target = whole(sample.get("target"))
    output = _mapping(sample.get("output"))
    choices = [_mapping(choice) for choice in _sequence(output.get("choices"))]
    texts = [whole(_mapping(choice.get("message")).get("content")) for choice in choices] or [None]
    if len(texts) == 1 and not texts[0]:
        texts = [whole(output.get("completion"))]
    error = _message(sample.get("error")) or _message(output.get("error"))
    if not choices and error is None:
        error = _message(sample.get("limit")) or "no output"
    epoch = sample.get("epoch")
    before = (epoch - 1) * len(texts) if isinstance(epoch, int) and 1 <= epoch <= MOST_EPOCHS else 0
    for number, text in enumerate(texts, before + 1):
        yield Answer(identity, model, task, number, text or (None if error else text), error, target, question)


def read_openai(place: Location, _on: Sequence[str]) -> Iterator[Answer]:
    """The answers in the output of a batch: chat completions, completions or responses; the id is ``custom_id``.

    A request that failed says no model; a batch is of one, so that it counts as that one's.
    """

    def body_of(record: Any) -> Mapping[str, Any]:
        return _mapping(_mapping(_mapping(record).get("response")).get("body"))

    models = {_text(body_of(record).get("model")) for record in _records(place)} - {None}
    of_all = models.pop() if len(models) == 1 else None
    for record in _records(place):
        if isinstance(record, Damaged):
            yield Answer(model=of_all, error=str(record))
            continue
        response, body = _mapping(record.get("response")), body_of(record)
        identity, model = _identifier(record.get("custom_id")), _text(body.get("model"), of_all)
        error = _message(record.get("error")) or _message(body.get("error"))
        if error is None and response.get("status_code", 200) != 200:
            error = f"status {line(str(response.get('status_code')), 20)}"
        answers = list(_openai_answers(body))
        if not answers:
            yield Answer(identity, model, error=error or "no answer in the response")
        for sample, (text, refusal) in enumerate(answers, 1):
            yield Answer(identity, model, None, sample, text, error or refusal)


def _openai_answers(body: Mapping[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    """Each answer in a response, and why it has no text."""
    for choice in map(_mapping, _sequence(body.get("choices"))):
        message = _mapping(choice.get("message"))
        text = _joined(message.get("content")) if message else _text(choice.get("text"))
        refusal = _text(message.get("refusal")) or f"finished with {line(str(choice.get('finish_reason')), 40)}"
        yield text, None if text is not None else refusal
    messages = [each for each in map(_mapping, _sequence(body.get("output"))) if each.get("type") == "message"]
    if messages:
        parts = [part for each in messages for part in map(_mapping, _sequence(each.get("content")))]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        refusal = next((part["refusal"] for part in parts if isinstance(part.get("refusal"), str)), "no text")
        yield ("".join(texts), None) if texts else (None, refusal)


def read_planbench(place: Location, _on: Sequence[str]) -> Iterator[Answer]:
    """The plans in a result file of PlanBench's plan generation (``task_1_….json``).

    An answer is the plan that PlanBench extracted; to a prompt in PDDL (``…_pddl.json``) it is the raw response. The
    problem and the domain are those of the checkout that the file lies in; without it, only the recorded plan is known.
    """
    results = _document(place, "result file of PlanBench")
    if not isinstance(results.get("instances"), list) or not place.name.startswith("task_1_"):
        raise DatasetError(f"{place} is no result file of PlanBench's plan generation, task_1_….json.")
    folder = place.parent.parent
    about = _Instances(folder.parent.parent, folder.name)
    model = _text(results.get("engine"), place.parent.name)
    for instance in map(_mapping, results["instances"]):
        number = _identifier(instance.get("instance_id"))
        text = _plan_lines(instance.get("extracted_llm_plan"))
        if place.name.endswith("_pddl.json"):
            text = _text(instance.get("llm_raw_response"), text)
        recorded = instance.get("llm_correct", instance.get("correct"))
        yield Answer(
            None if number is None else f"{folder.name}/{number}",
            model,
            place.name.removesuffix(".json"),
            text=text or None,
            error=None if text else "no plan was extracted",
            target=_plan_lines(instance.get("ground_truth_plan")),
            question=about.question(number),
            recorded=recorded if isinstance(recorded, bool) else {"True": True, "False": False}.get(str(recorded)),
        )


def _plan_lines(plan: Any) -> str | None:
    return "\n".join(map(str, plan)) if isinstance(plan, list) else _text(plan)


class _Instances:
    """The instances of a configuration in a checkout of PlanBench, as its file in ``configs`` names them."""

    def __init__(self, checkout: Location, configuration: str) -> None:
        self._base = checkout / "instances"
        read = _small(checkout / "configs" / f"{configuration}.yaml") or ""
        self._names = dict(re.findall(r"(?m)^(\w+): *['\"]?([\w./{}-]+)", read))
        self._domain = self._text(self._names.get("domain_file"))

    def question(self, number: str | None) -> dict[str, str]:
        """The problem and the domain of an instance; empty where they are not there."""
        folder, template = self._names.get("instance_dir"), self._names.get("instances_template", "")
        problem = self._text(f"{folder}/{template.replace('{}', number)}") if folder and number else None
        return {} if problem is None or self._domain is None else {"reference_problem": problem, "domain": self._domain}

    def _text(self, name: str | None) -> str | None:
        # Nothing outside of the folder, whatever a configuration or an id says.
        inside = name is not None and re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", name) is not None
        return _small(replace(self._base, path=posixpath.join(self._base.path, name))) if inside and name else None


def _small(place: Location) -> str | None:
    """The text of a small file; None where it is not there, or not small."""
    with dataset_errors(place, "read"):
        info = place.filesystem.get_file_info(place.path)
        if info.type != FileType.File or info.size > SMALL_BYTES:
            return None
        with place.filesystem.open_input_stream(place.path) as stream:
            text: str = stream.read().decode("utf-8", "replace")
            return text


HARNESSES: Mapping[str, Harness] = {
    "lm-eval": Harness(("samples_*.jsonl", "samples_*.jsonl.*"), read_lm_eval),
    "inspect": Harness(("*.eval", "20??-??-??T*.json"), read_inspect),
    "openai": Harness(("*.jsonl", "*.jsonl.*"), read_openai),
    "planbench": Harness(("task_1_*.json",), read_planbench, "plan"),
}
"""The harnesses by the names of ``options.HARNESSES``."""


def meant(question: Mapping[str, Any]) -> dict[str, Any]:
    """What a question says in fields with a meaning (DESIGN.md, section 2), by meaning.

    >>> meant({"problem_pddl": "(define …)", "is_placeholder": 1, "natural_language": "Stack a on b."})
    {'reference_problem': '(define …)', 'is_placeholder': True}
    """
    found: dict[str, Any] = {}
    for name, value in question.items():
        meaning = PLAIN_NAMES.get(name, name)
        if meaning not in REFERENCE_SIDE or meaning in found:
            continue
        if meaning == "is_placeholder":
            if value in (0, 1):
                found[meaning] = bool(value)
        elif isinstance(value, str):
            found[meaning] = value
    return found


def _records(place: Location) -> Iterator[dict[str, Any] | Damaged]:
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


def _document(place: Location, what: str) -> dict[str, Any]:
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


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any, otherwise: str | None = None) -> str | None:
    return value if isinstance(value, str) else otherwise


def _joined(content: Any) -> str | None:
    """A message's text, which may come in parts; None where it has none."""
    if isinstance(content, list):
        parts = [part if isinstance(part, str) else _mapping(part).get("text") for part in content]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if texts else None
    return _text(content)


def _message(error: Any) -> str | None:
    """What an error says, in one line."""
    if not error:
        return None
    found = _mapping(error)
    told = found.get("message") or found.get("code") or found.get("type") or error
    return line(told if isinstance(told, str) else json.dumps(told, default=str), 300)


def _identifier(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # What a column of integers becomes where some are missing.
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def _identity(
    question: Mapping[str, Any], on: Sequence[str], own: Any, known: Sequence[str] = QUESTION_IDS
) -> str | None:
    """The id of a question: the fields that were named, if it has them, else a usual one, else the log's own id."""
    if on and all(name in question for name in on):
        return join_key(question[name] for name in on)
    name = None if on else next((name for name in known if _identifier(question.get(name)) is not None), None)
    return _identifier(question[name] if name else own)


def join_key(values: Any) -> str | None:
    """One text for the values of a key; None where one of them is missing.

    >>> join_key([17]), join_key(["a", None])
    ('17', None)
    >>> join_key(["a", 1])
    '["a", "1"]'
    """
    texts = [_identifier(value) for value in values]
    # A value may hold anything: of several, each is quoted.
    return None if None in texts else str(texts[0]) if len(texts) == 1 else json.dumps(texts, ensure_ascii=False)
