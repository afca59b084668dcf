"""What is doubtful in a dataset before it is scored."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.scoring.audit import CURES, audit_dataset

from tests.support.running import run

FERRY = "(define (problem p) (:domain blocksworld) (:objects a b) (:init {}) (:goal (and {})))"
STANDING = "(arm-empty) (clear a) (clear b) (on-table a) (on-table b)"
PROBLEM = FERRY.format(STANDING, "(on a b)")


def written(folder: Path, *rows: dict[str, object] | str) -> Path:
    file = folder / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def row(number: int, reference: str = PROBLEM, generated: str = f"Sure! {PROBLEM}") -> dict[str, object]:
    return {"id": number, "reference_id": "q", "reference_problem": reference, "generated_problem": generated}


def test_each_fault_is_found_with_its_rows_and_a_cure(tmp_path: Path) -> None:
    renamed = "(define (problem p) (:domain blocksworld) (:objects b c) (:init {}) (:goal (and (on b c))))"
    renamed = renamed.format(STANDING.replace(" b)", " c)").replace(" a)", " b)"))
    faults = {
        "damaged line": '{"id": 1, "reference_problem": "(def',
        "repeated row": row(0),
        "columns swapped": row(3, f"Here it is: {PROBLEM}", PROBLEM),
        "another kind": row(4, "(define (domain blocksworld) (:predicates (p)))"),
        "no reference": row(5, ""),
        "reference cannot be read": row(6, "(define (problem p) (:domain blocksworld)"),
        "reference cannot be solved": row(7, FERRY.format(STANDING, "(on a a)")),
        "reference is solved as it is": row(8, FERRY.format(STANDING, "(clear a)")),
        "reference states another one again": {**row(9, renamed), "reference_id": "r"},
    }
    assert [*faults] == [kind for kind in CURES if kind in faults], "in the order in which they are shown"
    rows, found = audit_dataset(written(tmp_path, row(0), *faults.values()))
    assert rows == 1 + len(faults)
    assert {each.kind: (each.rows, each.first) for each in found} == {
        kind: (1, (place,)) for place, kind in enumerate(faults, 1)
    }
    assert "answers.jsonl:2" in found[0].example and found[0].cure == CURES["damaged line"]


def test_references_alone_are_audited_and_a_good_dataset_is_quiet(tmp_path: Path) -> None:
    alone = written(
        tmp_path, {"reference_id": 1, "reference_problem": PROBLEM}, {"reference_id": 2, "reference_problem": "no"}
    )
    assert [(each.kind, each.first) for each in audit_dataset(alone)[1]] == [("reference cannot be read", (1,))]
    assert run("score", alone, tmp_path / "out", "--check").exit_code == 1
    assert run("score", alone, "--check").exit_code == 1  # nothing is written, so no OUTPUT is needed
    assert run("score", alone).exit_code == 2
    assert audit_dataset(written(tmp_path, row(0), row(1, generated="I cannot."))) == (2, [])
    assert run("score", tmp_path / "answers.jsonl", tmp_path / "out", "--check").exit_code == 0
    assert not (tmp_path / "out").exists()


def test_plans_and_domains_that_are_wrong_references_are_found(tmp_path: Path) -> None:
    lamp = "(define (domain d) (:predicates (on)) (:action switch :precondition (and) :effect (on)))"
    task = {"domain": lamp, "reference_problem": "(define (problem p) (:domain d) (:init) (:goal (on)))"}
    wrong = {**task, "reference_plan": "(push)", "generated_plan": "(switch)", "reference_domain": lamp}
    right = {**wrong, "reference_plan": "(switch)"}
    broken = {**right, "reference_domain": "(define (domain d)", "generated_domain": lamp}
    found = audit_dataset(
        written(tmp_path, {**wrong, "generated_domain": lamp}, {**right, "generated_domain": lamp}, broken)
    )[1]
    assert {(each.kind, each.first) for each in found} == {
        ("reference plan is not valid", (0,)),
        ("reference cannot be read", (2,)),
    }


def test_a_text_that_is_not_utf_8_is_audited_as_it_is_scored(tmp_path: Path) -> None:
    texts = pa.array([PROBLEM.encode() + b"\xff", PROBLEM.encode()[:-1]]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"reference_problem": texts}), tmp_path / "references.parquet")
    rows, (doubt,) = audit_dataset(tmp_path / "references.parquet")
    assert (rows, doubt.kind, doubt.first) == (2, "reference cannot be read", (1,))
