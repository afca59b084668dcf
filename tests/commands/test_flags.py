"""The options of all commands: one spelling and one meaning each, former names, files of settings, what goes where."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import read_config
from pddl_eval.commands.cli import main
from pddl_eval.commands.config import CONFIG_BYTES
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.settings import RunOptions, grouped

from tests.support.running import only_line, run, shard_rows, start

TOWER = (
    "(define (problem tower) (:domain blocksworld) (:objects a b)"
    " (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"
)

ONE_COMMAND_APART = {"--domain", "--from", "--kind"}
"""What a ``generate`` command means by a word is not what the others mean: the domain to make tasks in has no default,
they are made from problems and not from logs, and one kind of request is made, of questions several."""

SEVERAL_MEANINGS = ONE_COMMAND_APART | {"--feedback", "--format", "--keep", "--key", "--optimal", "--output"}
"""Besides, ``--format`` has the formats of its command, and ``--output`` is a file, of a report also a folder;
``--key`` says what its command does without it; with ``--optimal`` and ``--feedback`` score has more columns, validate
a line more, and explain says nothing else; dedupe keeps columns, nightly the last nights."""


def options_by_command() -> dict[str, list[Any]]:
    """The options of each command, by its words."""
    found: dict[str, list[Any]] = {}

    def walk(words: str, command: Any) -> None:
        for name, each in getattr(command, "commands", {}).items():
            walk(f"{words} {name}".strip(), each)
        if words and not hasattr(command, "commands"):
            found[words] = [each for each in command.params if each.param_type_name == "option"]

    walk("", main)
    return found


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    table = {"id": ["x", "y", "z"], "model": ["m", "m", "n"], "problem": [TOWER] * 3, "answer": [TOWER, "", TOWER]}
    pq.write_table(pa.table(table), tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


RENAMED = ("--column", "generated_problem=answer", "--column", "reference_problem=problem")


def test_an_option_is_the_same_in_every_command_that_has_it() -> None:
    shapes = defaultdict(set)
    keywords = defaultdict(set)
    for options in options_by_command().values():
        for each in options:
            for flag in each.opts:
                keywords[flag].add(each.name)
                if flag not in SEVERAL_MEANINGS:
                    shapes[flag].add((each.help, each.metavar, each.multiple))
    several = {flag: found for flag, found in shapes.items() if len(found) > 1}
    # Processes of a run that Ray may have, and of work that is always in processes.
    assert set(several) == {"--workers"}
    assert {flag for flag, found in keywords.items() if len(found) > 1} <= ONE_COMMAND_APART


def test_every_command_has_the_flags_of_every_command() -> None:
    for name, options in options_by_command().items():
        assert {"--quiet", "--verbose", "--config"} <= {flag for each in options for flag in each.opts}, name


def test_a_column_is_named_alike_in_score_report_explain_dedupe_and_generate(pairs: Path, tmp_path: Path) -> None:
    assert run("score", pairs, tmp_path / "scored", *RENAMED).exit_code == 0
    assert run("report", tmp_path / "scored", *RENAMED).exit_code == 0
    assert "identical" in run("explain", pairs, "--row", 0, *RENAMED).stdout
    assert "1 problems" in run("dedupe", pairs, tmp_path / "classes.parquet", *RENAMED, "--workers", 1).stdout
    references = tmp_path / "references.parquet"
    pq.write_table(pq.read_table(pairs).drop_columns("answer"), references)
    made = run("generate", "variants", references, tmp_path / "answers.parquet", *RENAMED, "--workers", 1)
    assert made.exit_code == 0, made.stderr
    assert pq.read_schema(tmp_path / "answers.parquet").names[:4] == ["id", "model", "problem", "answer"]
    for command in ("dedupe", "generate variants"):
        wrong = run(*command.split(), pairs, tmp_path / "no.parquet", "--column", "generatd_problem=answer")
        assert wrong.exit_code == 2 and "generated_problem" in only_line(wrong.stderr)


def test_a_row_is_named_by_its_id(pairs: Path) -> None:
    for named in (("--id", "z"), ("--id", "n", "--key", "model"), ("--key", "model,id", "--id", "n")):
        ids = (*named, "--id", "z") if "model,id" in named else named
        result = run("explain", pairs, *ids, *RENAMED)
        assert result.exit_code == 0 and "row 2 of" in result.stdout, result.stderr
    assert run("explain", pairs, "--id", "z", "--key", "model,id", *RENAMED).exit_code == 2
    assert "idd" in only_line(run("explain", pairs, "--id", "z", "--key", "idd", *RENAMED).stderr)


def test_quiet_leaves_only_errors_and_the_result(pairs: Path, tmp_path: Path) -> None:
    result = run("score", pairs, tmp_path / "scored", *RENAMED, "--quiet")
    assert result.exit_code == 0 and result.stderr == "" and "equivalent" in result.stdout
    assert "none" in only_line(run("score", tmp_path / "none", tmp_path / "out", "--quiet").stderr)


def test_verbose_says_each_shard_and_where_an_error_comes_from(pairs: Path, tmp_path: Path) -> None:
    result = run("score", pairs, tmp_path / "scored", *RENAMED, *shard_rows(2, tmp_path), "--verbose")
    assert result.exit_code == 0, result.stderr
    assert "2 of 2 shards" in result.stderr and "pairs-000000000002-000000000003.parquet" in result.stderr
    assert "shards to do" not in result.stdout and "equivalent" in result.stdout
    failed = start("-m", "pddl_eval", "score", tmp_path / "none", tmp_path / "out", "-v")
    assert failed.returncode == 2 and "DatasetError" in failed.stderr and "Traceback" in failed.stderr


def test_a_file_of_settings_is_the_flags_and_flags_win(pairs: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(
        "check-solvable = false\nshard_rows = 2\n"
        "column = {generated_problem = 'answer', reference_problem = 'problem'}\n"
    )
    for folder, more in (("a", ()), ("b", ("--check-solvable",))):
        result = run("score", pairs, tmp_path / folder, "--config", config, *more)
        assert result.exit_code == 0, result.stderr
    by_flags = run("score", pairs, tmp_path / "c", *RENAMED, "--no-check-solvable", *shard_rows(2, tmp_path))
    assert by_flags.exit_code == 0
    manifests = [json.loads((tmp_path / each / "_pddl_eval_run.json").read_text()) for each in "abc"]
    for each in manifests:
        each.pop("read")  # It has only files that were written some seconds ago.
    assert manifests[0] == manifests[2] != manifests[1]
    assert "solvable:yes" in manifests[1]["signature"] and len([*(tmp_path / "b").glob("*.parquet")]) == 2


def test_a_file_of_settings_serves_every_command(pairs: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(
        'key = "model"\nid = ["n"]\n[column]\ngenerated_problem = "answer"\nreference_problem = "problem"\n'
    )
    assert "row 2 of" in run("explain", pairs, "--config", config).stdout
    config.write_text('previous = "old"\n')
    assert "--previous" not in run("rescore", pairs, tmp_path / "out", "--config", config).stderr, "it is given"
    config.write_text('format = "json"\nby = ["model"]\n')
    run("score", pairs, tmp_path / "scored", *RENAMED)
    assert run("report", tmp_path / "scored", "--config", config).stdout.startswith("{")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workerz = 3", "did you mean workers?"),
        ("workers = 'many'", "integer"),
        ("column = 'a'", "MEANING=NAME"),
        ("quiet = true", "quiet"),
        ("engine = 'ryy'", "ray"),
        ("[column]\ngeneratd_problem = 'x'", "did you mean generated_problem?"),
    ],
)
def test_a_wrong_file_of_settings_exits_with_2(text: str, said: str, pairs: Path, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(text)
    result = run("score", pairs, tmp_path / "out", "--config", config)
    assert result.exit_code == 2 and said in only_line(result.stderr)
    assert not (tmp_path / "out").exists()


# --- Files of settings: names, types, and files made to hang or exhaust the reader


SETTINGS = {"columns": {"generated_problem": "output"}, "beta": 1, "check_solvable": False, "workers": 3}
WRITTEN = 'beta = 1\ncheck-solvable = false\nworkers = 3\n[column]\ngenerated_problem = "output"\n'


def written(folder: Path, text: str, suffix: str = "toml") -> Path:
    path = folder / f"settings.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_the_keywords_of_python(tmp_path: Path) -> None:
    found = read_config(written(tmp_path, WRITTEN))
    assert found == SETTINGS
    scoring = {name: value for name, value in found.items() if name != "workers"}
    assert ScoringOptions(**scoring).column("generated_problem") == "output" and RunOptions(workers=found["workers"])


def test_a_domain_is_a_name_or_a_file_as_for_the_flag(tmp_path: Path) -> None:
    text = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))"
    (tmp_path / "d.pddl").write_text(text)
    assert read_config(written(tmp_path, "domain = 'gripper'")) == {"domain": "gripper"}
    assert read_config(written(tmp_path, f"domain = '{tmp_path}/d.pddl'")) == {"domain": text}
    with pytest.raises(UserError, match="gripper"):
        read_config(written(tmp_path, "domain = 'griper'"))


def test_texts_may_look_like_numbers(tmp_path: Path) -> None:
    assert read_config(written(tmp_path, "row-seconds = 1e-3\nkey = [1, 'b']")) == {
        "row_seconds": 1e-3,
        "key": ["1", "b"],
    }


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        ("toml", "workerz = 3", "workers"),
        ("toml", "workers = 2.5", "integer"),
        ("toml", "workers = true", "integer"),
        ("toml", "beta = 'high'", "float"),
        ("toml", "check_solvable = 'maybe'", "boolean"),
        ("toml", "column = ['generated_problem']", "MEANING=NAME"),
        ("toml", "key = [['a']]", "text"),
        ("toml", "domain = ['a']", "text"),
        ("toml", "workers = 1\nworkers = 2", "overwrite"),
        ("toml", "row-seconds = 1\nrow_seconds = 2", "twice"),
        ("toml", "- workers", "cannot be read"),
        ("toml", "a = \x00", "cannot be read"),
        ("toml", "a = " + "[" * 20_000, "deep"),
        ("toml", "workers = ", "cannot be read"),
        ("toml", "day = 2026-01-02", "day"),
        ("toml", "#" * (CONFIG_BYTES + 1), "bytes"),
        ("yaml", "workers: 3", ".toml"),
        ("json", "{}", ".toml"),
    ],
)
def test_a_file_that_is_no_settings_is_the_users_mistake(suffix: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        read_config(written(tmp_path, text, suffix))


def test_a_file_that_cannot_be_read_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"domain = '\xe9'")
    with pytest.raises(UserError, match="latin"):
        read_config(tmp_path / "latin.toml")


def test_many_names_take_linear_time(tmp_path: Path) -> None:
    started = time.process_time()
    with pytest.raises(UserError):
        read_config(written(tmp_path, "".join(f"n{number} = 1\n" for number in range(2_000))))
    assert time.process_time() - started < 10


def test_settings_are_listed_once_each_by_the_name_of_their_flag(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("zzzzzzzz = 1\n")
    with pytest.raises(UserError) as found:
        read_config(path)
    for said in (run("score", "a", "b", "--config", path).stderr, str(found.value)):
        names = said.rstrip(". \n").partition("the settings are ")[2].split(", ")
        assert len(names) > 10 and len({name.replace("-", "_") for name in names}) == len(names)
        assert "columns" not in names and "column" in names


@pytest.mark.parametrize("option", ["--engine", "--address"])
@pytest.mark.parametrize("place", ["ray://", "ray://:10001"])
def test_a_cluster_without_a_host_is_refused_at_once(option: str, place: str, pairs: Path, tmp_path: Path) -> None:
    result = run("score", pairs, tmp_path / "out", option, place)
    assert result.exit_code == 2 and "HOST" in only_line(result.stderr)


def test_a_number_that_is_none_is_the_users_mistake() -> None:
    for wrong in ({"workers": "2"}, {"beta": "x"}, {"row_seconds": None}, {"shard_rows": 1.5}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            grouped(wrong, ScoringOptions, RunOptions)
