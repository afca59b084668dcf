"""``pddl-eval explain`` as a command: files, rows, pages, mistakes."""

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import counterexample
from pddl_eval.definition.model import show_atom
from pddl_eval.definition.verdict import Verdict

from tests.docs.readme_outputs import SAMPLE
from tests.support.pairs_by_verdict import ANSWERS, REFERENCE, RENAMED
from tests.support.plan_text import plan_to_pddl
from tests.support.running import only_line, run, start
from tests.support.sample import DOMAIN_TEXTS


def test_two_files_are_compared_and_drawn(tmp_path: Path) -> None:
    reference, answer = tmp_path / "reference.pddl", tmp_path / "answer.txt"
    reference.write_text(REFERENCE)
    answer.write_text(f"Sure:\n{RENAMED}")
    page, picture = tmp_path / "why.html", tmp_path / "why.svg"
    result = start("-m", "pddl_eval", "explain", reference, answer, "--html", page, "--svg", picture)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("isomorphic: equivalent")
    assert max(map(len, result.stdout.splitlines()[:-4])) <= 80, "a pipe is 80 columns wide"
    assert page.read_text().startswith("<!DOCTYPE html>") and picture.read_text().startswith("<svg")


def test_an_answer_may_come_through_a_pipe(tmp_path: Path) -> None:
    reference = tmp_path / "reference.pddl"
    reference.write_text(REFERENCE)
    assert run("explain", reference, "-", stdin="no").stdout.startswith("unparseable")


def test_a_row_is_named_with_what_the_dataset_says_of_it(tmp_path: Path) -> None:
    dataset = tmp_path / "pairs.parquet"
    columns = {"reference_problem": [REFERENCE] * 2, "output": ["no", RENAMED], "verdict": ["empty"] * 2, "id": [7, 8]}
    pq.write_table(pa.table(columns), dataset)
    names = ("--column", "generated_problem=output", "--column", "pair_id=id")
    result = run("explain", dataset, "--id", "8", *names)
    assert result.exit_code == 0, result.stderr
    title, headline = result.stdout.splitlines()[:2]
    assert f"row 1 of {dataset}" in title and "empty" in title
    assert headline.startswith("isomorphic")


def test_a_counterexample_is_saved_as_val_reads_it(tmp_path: Path) -> None:
    reference, answer, plan = tmp_path / "reference.pddl", tmp_path / "answer.pddl", tmp_path / "plan"
    reference.write_text(REFERENCE)
    answer.write_text(ANSWERS[Verdict.GOAL_DIFFERS] or "")
    result = run("explain", reference, answer, "--save-plan", plan)
    assert result.exit_code == 0 and str(plan) in result.stdout.replace("\n", "")
    found = counterexample(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])
    assert found is not None and found.satisfies == "generated"
    comments = [line for line in plan.read_text().splitlines() if line.startswith(";")]
    assert plan.read_text() == "".join(f"{line}\n" for line in [*comments, *plan_to_pddl(found.plan).splitlines()])
    assert all(atom in comments[1] for atom in map(show_atom, found.lacking)) and "x is a" in comments[2]


def test_for_other_verdicts_the_answer_s_plan_is_saved_in_its_own_names(tmp_path: Path) -> None:
    reference, answer, plan = tmp_path / "reference.pddl", tmp_path / "answer.pddl", tmp_path / "plan"
    reference.write_text(REFERENCE)
    answer.write_text(RENAMED)
    assert run("explain", reference, answer, "--save-plan", plan).exit_code == 0
    assert "(stack x y)" in plan.read_text().splitlines()
    answer.write_text(ANSWERS[Verdict.UNSOLVABLE] or "")
    plan.unlink()
    result = run("explain", reference, answer, "--save-plan", plan)
    assert result.exit_code == 1 and "(on c a)" in only_line(result.stderr)
    assert result.stdout.startswith("unsolvable") and not plan.exists()


def test_files_with_plans_or_domains_are_told_apart(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("plan", "answer", "problem", "domain", "other")}
    files["plan"].write_text("(unstack a b)\n(putdown a)")
    files["answer"].write_text("My plan: unstack(a, b), stack(a, b), stack(a, b)")
    files["problem"].write_text(REFERENCE)
    files["domain"].write_text(DOMAIN_TEXTS["blocksworld"])
    files["other"].write_text(DOMAIN_TEXTS["gripper"])
    result = run("explain", files["plan"], files["answer"], "--problem", files["problem"])
    assert result.exit_code == 0 and "step 3 of 3 fails" in result.stdout and "(holding a)" in result.stdout
    domain = ("--domain", files["other"])
    assert (
        "no step names an operator of the domain: `unstack`"
        in run("explain", *list(files.values())[:2], "--problem", files["problem"], *domain).stdout
    )
    page = tmp_path / "why.html"
    result = run("explain", files["domain"], files["other"], "--html", page)
    assert result.stdout.startswith("operator count") and "operator count" in page.read_text()
    for arguments in (
        (files["domain"], files["other"], "--svg", tmp_path / "why.svg"),
        (files["plan"], files["answer"], "--save-plan", tmp_path / "saved"),
        (files["problem"], files["problem"], "--problem", files["problem"]),
        (files["plan"], files["answer"], "--only", "domain"),
    ):
        result = run("explain", *arguments)
        assert result.exit_code == 2 and only_line(result.stderr)


def test_a_row_with_several_pairs_explains_each(tmp_path: Path) -> None:
    result = run("explain", SAMPLE, "--row", 4)
    assert result.exit_code == 0, result.stderr
    title, *rest = result.stdout.splitlines()
    assert "row 4" in title
    for pair in ("Problems", "Plans", "Domains"):
        assert any(line.startswith(f"{pair}: ") for line in rest)
    assert "Problems" not in run("explain", SAMPLE, "--row", 4, "--only", "plan").stdout
    scored, rows = tmp_path / "scored.parquet", pq.read_table(SAMPLE)
    pq.write_table(rows.append_column("verdict", [["not_strips"] * len(rows)]), scored)
    assert "scored there as not_strips" in run("explain", scored, "--row", 4).stdout
    assert "not_strips" not in run("explain", scored, "--row", 4, "--only", "domain").stdout


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    dataset = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"reference_problem": [REFERENCE], "generated_problem": ["no"]}), dataset)
    for arguments, said in (
        ((dataset,), "--row N or --id ID"),
        ((dataset, "--row", "0", "--id", "a"), "--row N or --id ID"),
        ((dataset, "--row", "5"), "row 5"),
        ((dataset, dataset, "--row", "5"), "--row, --id, --key and --column"),
        ((tmp_path / "none.pddl", dataset), "none.pddl"),
    ):
        result = run("explain", *arguments)
        assert result.exit_code == 2 and said in only_line(result.stderr)


def test_a_row_that_could_not_be_scored_says_why(tmp_path: Path) -> None:
    lines = ['{"reference_plan": "(pick a)", "generated_plan": "(pick a)"}', "damaged", ""]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    assert run("score", tmp_path / "answers.jsonl", tmp_path / "scored").exit_code == 0
    said = run("explain", tmp_path / "scored", "--row", 1).stdout
    assert "answers.jsonl:2" in said
    assert "not scored" not in run("explain", tmp_path / "scored", "--row", 0).stdout


def test_several_rows_of_one_id_are_counted_and_named(tmp_path: Path) -> None:
    plans = {"reference_plan": ["(a)"] * 4, "generated_plan": ["(a)", "(b)", "(b)", "(c)"]}
    pl.DataFrame({"id": ["q", "r", "q", "q"], **plans}).write_parquet(tmp_path / "pairs.parquet")
    result = run("explain", tmp_path / "pairs.parquet", "--id", "q")
    assert result.exit_code == 0 and "row 0 of" in result.stdout
    assert "3 rows" in only_line(result.stderr) and "2, 3" in result.stderr and "--row" in result.stderr
    assert not run("explain", tmp_path / "pairs.parquet", "--id", "r").stderr
