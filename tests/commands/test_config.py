"""Files of settings: names, types, YAML that is no plain data, and files made to hang or exhaust the reader."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pddl_eval import read_config
from pddl_eval.commands.config import CONFIG_BYTES
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.settings import RunOptions

from tests.commands.running import run

SETTINGS = {"columns": {"generated_problem": "output"}, "beta": 1, "check_solvable": False, "workers": 3}
WRITTEN = {
    "toml": 'beta = 1\ncheck-solvable = false\nworkers = 3\n[column]\ngenerated_problem = "output"\n',
    "yaml": "column: {generated_problem: output}\nbeta: 1\ncheck_solvable: false\nworkers: 3\naddress: ~\n",
}


def written(folder: Path, text: str, suffix: str = "yaml") -> Path:
    path = folder / f"settings.{suffix}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", WRITTEN)
def test_both_forms_give_the_keywords_of_python(suffix: str, tmp_path: Path) -> None:
    found = read_config(written(tmp_path, WRITTEN[suffix], suffix))
    assert found == SETTINGS
    scoring = {name: value for name, value in found.items() if name != "workers"}
    assert ScoringOptions(**scoring).column("generated_problem") == "output" and RunOptions(workers=found["workers"])


def test_a_domain_is_a_name_or_a_file_as_for_the_flag(tmp_path: Path) -> None:
    text = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))"
    (tmp_path / "d.pddl").write_text(text)
    assert read_config(written(tmp_path, "domain: gripper")) == {"domain": "gripper"}
    assert read_config(written(tmp_path, f"domain: {tmp_path}/d.pddl")) == {"domain": text}
    with pytest.raises(UserError, match="gripper"):
        read_config(written(tmp_path, "domain: griper"))


def test_nothing_is_no_setting_and_texts_may_look_like_numbers(tmp_path: Path) -> None:
    assert read_config(written(tmp_path, "references:\naddress: ~\nrow-seconds: 1e-3\nkey: [1, b]")) == {
        "row_seconds": 1e-3,
        "key": ["1", "b"],
    }


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        ("yaml", "workerz: 3", "workers"),
        ("yaml", "workers: 2.5", "integer"),
        ("yaml", "workers: true", "integer"),
        ("yaml", "beta: high", "float"),
        ("yaml", "check_solvable: maybe", "boolean"),
        ("yaml", "column: [generated_problem]", "MEANING=NAME"),
        ("yaml", "key: [[a]]", "text"),
        ("yaml", "domain: [a]", "text"),
        ("yaml", "workers: 1\nworkers: 2", "twice"),
        ("yaml", "row-seconds: 1\nrow_seconds: 2", "twice"),
        ("yaml", "- workers", "names and values"),
        ("yaml", "3: 4", "names"),
        ("yaml", "? [a]\n: 1", "cannot be read"),
        ("yaml", "a: &x 1\nb: *x", "alias"),
        ("yaml", "a: !!python/object/apply:os.system [true]", "python"),
        ("yaml", "a: [", "cannot be read"),
        ("yaml", "a: \x00", "cannot be read"),
        ("yaml", "a: " + "[" * 20_000, "deep"),
        ("toml", "a = " + "[" * 20_000, "deep"),
        ("toml", "workers = ", "cannot be read"),
        ("toml", "day = 2026-01-02", "day"),
        ("yaml", "#" * (CONFIG_BYTES + 1), "bytes"),
        ("json", "{}", ".toml"),
    ],
)
def test_a_file_that_is_no_settings_is_the_users_mistake(suffix: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=said):
        read_config(written(tmp_path, text, suffix))


def test_a_file_that_cannot_be_read_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "latin.yaml").write_bytes(b"domain: \xe9")
    with pytest.raises(UserError, match="latin"):
        read_config(tmp_path / "latin.yaml")


def test_a_document_of_aliases_of_aliases_ends_at_once(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    started = time.process_time()
    with pytest.raises(UserError, match="alias"):
        read_config(written(tmp_path, bomb))
    assert time.process_time() - started < 2


def test_many_names_take_linear_time(tmp_path: Path) -> None:
    started = time.process_time()
    with pytest.raises(UserError):
        read_config(written(tmp_path, "".join(f"n{number}: 1\n" for number in range(2_000))))
    assert time.process_time() - started < 10


def test_settings_are_listed_once_each_by_the_name_of_their_flag(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("zzzzzzzz: 1\n")
    with pytest.raises(UserError) as found:
        read_config(path)
    for said in (run("score", "a", "b", "--config", path).stderr, str(found.value)):
        names = said.rstrip(". \n").partition("the settings are ")[2].split(", ")
        assert len(names) > 10 and len({name.replace("-", "_") for name in names}) == len(names)
        assert "columns" not in names and "column" in names
