"""A report in the formats that collections of results read: Every Eval Ever, and Hugging Face's ``.eval_results``.

A file for each model, with the rates of the report and their intervals; for Every Eval Ever also a line for each
answer. What a collection asks for and no scored dataset says comes from whoever publishes (``ABOUT``).
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

import polars as pl

from pddl_eval.datasets import Location, new_file, put_bytes
from pddl_eval.errors import UserError, did_you_mean, require_extra
from pddl_eval.report.groups import MISSING, at_level, group_key
from pddl_eval.report.intervals import METHOD
from pddl_eval.report.numbers import as_counted, counts_in, main_measure
from pddl_eval.report.reasons import OUTCOMES
from pddl_eval.report.rows import prompt_column
from pddl_eval.report.scored import ROW, Scored, open_scored
from pddl_eval.scoring.columns import PAIRS, Pair, without_thinking
from pddl_eval.settings import RELATIONSHIPS
from pddl_eval.version import version_of

if TYPE_CHECKING:
    from pddl_eval.report.build import Report

ABOUT = MappingProxyType(
    {
        "dataset": "the benchmark's name; for hf its dataset on the Hub, OWNER/NAME",
        "organization": "who evaluated (eee)",
        "relationship": f"of the evaluator to the models: {', '.join(RELATIONSHIPS)} (eee; default: other)",
        "model": "the model, where the dataset has no column of models",
        "developer": "who made the models whose name is not DEVELOPER/MODEL",
        "url": "where the benchmark is (eee), or the record of this evaluation (hf)",
        "revision": "of the benchmark's dataset",
        "task": "of the benchmark (hf; default: default)",
        "date": "when the models answered, as 2026-11-26",
    }
)
"""What whoever publishes results can say about them, and what it means."""

SCHEMA_VERSION = "0.3.0"
"""Of Every Eval Ever's schemas for evaluations and for instances, as of its release 0.2.3."""

LINES = 10_000
"""Answers whose texts are in memory at a time."""

UNSAFE = re.compile(r"[^\w.+-]+|\.+$")
"""What stands in no name of a file or folder."""


def result_files(report: Report, place: Location, form: str, about: Mapping[str, str]) -> dict[Location, str]:
    """The file of each model below a folder, as ``eee`` or ``hf``, with the model.

    Raises ``UserError`` where the collection needs what neither the report nor ``about`` says.
    """
    _require(report, form, about)
    files = {}
    for model in _models(report, about):
        owner, name = map(_safe, _identity(model, about))
        if form == "hf":
            file = f"{owner}/{name}/.eval_results/{_safe(about['dataset'].partition('/')[2])}.yaml"
        else:
            unique = UUID(bytes=_digest(report, model, about)[:16], version=4)
            file = f"data/{_safe(about['dataset'])}/{owner}/{name}/{unique}.json"
        files[place / file] = model
    return files


def _require(report: Report, form: str, about: Mapping[str, str]) -> None:
    for name in about:
        if name not in ABOUT:
            raise UserError(f"--about says nothing of {name}; {did_you_mean(name, ABOUT)}")
    if report.place is None:
        raise UserError("results name the dataset that they are of: score into a folder, then report on that")
    if report.rates.is_empty():
        raise UserError(f"{report.place} has no rates: results are of verdicts")
    if report.unfinished:
        raise UserError(f"results of an unfinished run are not published: {report.unfinished}")
    needed = {"eee": ["dataset", "organization"], "hf": ["dataset"]}[form]
    for name in needed if report.model else [*needed, "model"]:
        if not about.get(name):
            raise UserError(f"{form} asks for the {name}: --about {name}=… ({ABOUT[name]})")
    if (given := about.get("relationship", "other")) not in RELATIONSHIPS:
        raise UserError(f"the relationship cannot be {given}; {did_you_mean(given, RELATIONSHIPS)}")
    if form == "hf" and about["dataset"].count("/") != 1:
        raise UserError(f"a dataset on the Hub is OWNER/NAME, not {about['dataset']}")


def _models(report: Report, about: Mapping[str, str]) -> list[str]:
    if report.model is None:
        return [about["model"]]
    return [name for name in report.rates[report.model].unique(maintain_order=True) if name not in (None, MISSING)]


def write_results(report: Report, place: Location, form: str, about: Mapping[str, str]) -> int:
    """Write the files of ``result_files``; returns how many. Raises as that, and ``OutputError`` as other writers."""
    files = result_files(report, place, form, about)
    scored = open_scored(report.place or "", report.columns, report.where) if form == "eee" else None
    for file, model in files.items():
        if scored is None:
            put_bytes(file, _hf(report, model, about))
        else:
            _write_eee(report, scored, file, str(file.path)[len(place.path) + 1 :], model, about)
    return len(files)


def _digest(report: Report, model: str, about: Mapping[str, str]) -> bytes:
    """Of all that is said of a model: the same results are the same file, and replace themselves."""
    said = [dict(about), model, _signature(report), report.place, report.where, dict(_rates(report, model))]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()


def _rates(report: Report, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rates of a model over all its answers, and by each other column with several values, each with its id."""
    own = [report.model] if report.model else []
    of_model = report.rates.filter(*(pl.col(name) == model for name in own))
    for other in ([], *([name] for name in report.by if name != report.model)):
        frame = at_level(of_model, report.by, [*own, *other]).drop_nulls("percent")
        if other and frame[other[0]].n_unique() < 2:  # It would say the same again.
            continue
        for known in frame.iter_rows(named=True):
            yield "/".join([known["measure"], *(f"{name}={known[name]}" for name in other)]), known


def _hf(report: Report, model: str, about: Mapping[str, str]) -> bytes:
    """YAML for the model's repository: its strictest rate, in percent."""
    require_extra("hf", "A result for the Hub")
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    overall = {key: known for key, known in _rates(report, model) if "/" not in key}
    main = main_measure(overall)
    entry = EvalResultEntry(
        dataset_id=about["dataset"],
        task_id=about.get("task", "default"),
        value=round(overall[main]["percent"], 4),
        dataset_revision=about.get("revision"),
        date=about.get("date"),
        source_url=about.get("url"),
        notes=f"{main}, {overall[main]['rows']:,} answers, {_interval(overall[main])}{_signature(report)}",
    )
    return str(yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True)).encode()


def _interval(known: Mapping[str, Any]) -> str:
    if known["low"] is None:
        return "no interval; "
    return f"95 % interval {known['low']:.1f} to {known['high']:.1f}; "


def _write_eee(  # noqa: PLR0913 (what is written, and where)
    report: Report, scored: Scored, file: Location, name: str, model: str, about: Mapping[str, str]
) -> None:
    """The evaluation of a model, and beside it a line for each answer that is right or wrong."""
    developer, named = _identity(model, about)
    model_id = f"{developer}/{named}"
    evaluation = f"{about['dataset']}/{model_id}/{_digest(report, model, about).hex()[:16]}"
    samples = f"{name.removesuffix('.json')}_samples.jsonl"
    digest, lines = hashlib.sha256(), 0
    with new_file(file.parent / samples.rpartition("/")[2]) as written:
        for line in _instances(scored, report, model, {"evaluation_id": evaluation, "model_id": model_id}):
            written.write(line)
            digest.update(line)
            lines += 1
    log = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation,
        **({"evaluation_timestamp": about["date"]} if "date" in about else {}),
        "retrieved_timestamp": str(int(time.time())),
        "source_metadata": {
            "source_name": "pddl-eval",
            "source_type": "evaluation_run",
            "source_organization_name": about["organization"],
            "evaluator_relationship": about.get("relationship", "other"),
        },
        "eval_library": {
            "name": "pddl-eval",
            "version": version_of("pddl-eval"),
            "additional_details": {"signature": _signature(report), "report": report.signature},
        },
        "model_info": {
            "name": model,
            "id": model_id,
            "developer": developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(key, known, about) for key, known in _rates(report, model)],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples,
            "hash_algorithm": "sha256",
            "checksum": digest.hexdigest(),
            "total_rows": lines,
        },
    }
    put_bytes(file, f"{json.dumps(log, ensure_ascii=False, indent=1)}\n".encode())


def _result(key: str, known: Mapping[str, Any], about: Mapping[str, str]) -> dict[str, Any]:
    """A rate as a result; undecided answers count as wrong in it, and how many they are is said."""
    source: dict[str, Any] = {"dataset_name": about["dataset"], "source_type": "other"}
    if "url" in about:
        source |= {"source_type": "url", "url": [about["url"]]}
    if "revision" in about:
        source["additional_details"] = {"revision": about["revision"]}
    uncertainty: dict[str, Any] = {"num_samples": known["rows"]}
    if known["low"] is not None:
        bounds = {"lower": known["low"] / 100, "upper": known["high"] / 100}
        uncertainty["confidence_interval"] = {**bounds, "confidence_level": 0.95, "method": METHOD}
    return {
        "evaluation_result_id": key,
        "evaluation_name": key,
        "source_data": source,
        "metric_config": {
            "evaluation_description": f"Share of answers of which {known['measure']} is true; undecided counts as no",
            "metric_id": f"pddl_eval.{known['measure']}",
            "metric_name": known["measure"],
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": known["percent"] / 100,
            "details": {name: str(known[name]) for name in ("rows", "yes", "undecided", "references")},
            "uncertainty": uncertainty,
        },
    }


def _instances(scored: Scored, report: Report, model: str, ids: Mapping[str, str]) -> Iterator[bytes]:
    """The answers of a model, each with the strictest measure of its pair, as lines of JSON.

    An answer that is undecided is neither right nor wrong, as the schema wants it: it has no line.
    """
    prompt = prompt_column(scored)
    for pair in PAIRS:
        asked = [column.name for column in pair.columns if column.name in {*report.rates["measure"]}]
        if not asked:
            continue
        measure = main_measure(asked)
        texts = {name: scored.column(name) for name in (pair.generated, *pair.compared_with, "reference_id")}
        known = {name: pl.col(column).cast(pl.String) for name, column in texts.items() if column}
        known |= {name: pl.col(name) for name in (pair.verdict, OUTCOMES[pair.name].sentence) if name in scored.schema}
        own = [group_key(report.model) == model] if report.model else []
        rows = scored.frame.filter(*own, counts_in(scored, measure)).select(
            pl.col(ROW).alias("row"),
            as_counted(scored, measure).alias("right"),
            (pl.col(prompt) if prompt else pl.lit("")).alias("prompt"),
            **known,
        )
        rows = rows.filter(pl.col("right").is_not_null())
        for first in range(0, rows.select(pl.len()).collect().item(), LINES):
            for each in rows.slice(first, LINES).collect().iter_rows(named=True):
                yield f"{json.dumps(_instance(each, measure, pair, ids), ensure_ascii=False)}\n".encode()


def _instance(known: Mapping[str, Any], measure: str, pair: Pair, ids: Mapping[str, str]) -> dict[str, Any]:
    references = [text for name in pair.compared_with if (text := known.get(name))]
    given, asked = known.get(pair.generated) or "", known["prompt"] or ""
    hashed = json.dumps({"raw": asked, "reference": references}, sort_keys=True, separators=(",", ":"))
    said = {name: known.get(name) for name in (pair.verdict, OUTCOMES[pair.name].sentence)}
    return {
        "schema_version": SCHEMA_VERSION,
        **ids,
        "evaluation_name": measure,
        "evaluation_result_id": measure,
        "sample_id": known.get("reference_id") or f"row {known['row']}",
        "sample_hash": hashlib.sha256(hashed.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": asked, "reference": references},
        "output": {"raw": [given]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": without_thinking(given),
                "extraction_method": "pddl-eval",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(known["right"]), "is_correct": known["right"]},
        "metadata": {"row": str(known["row"]), **{name: text for name, text in said.items() if text}},
    }


def _identity(model: str, about: Mapping[str, str]) -> tuple[str, str]:
    developer, _, name = model.partition("/")
    if name:
        return developer, name
    if not about.get("developer"):
        raise UserError(f"{model} does not say who made it: name models DEVELOPER/MODEL, or --about developer=…")
    return about["developer"], model


def _safe(name: str) -> str:
    return UNSAFE.sub("_", name) or "_"


def _signature(report: Report) -> str:
    return " and ".join(signature or "no signature" for signature, _ in report.signatures) or report.signature
