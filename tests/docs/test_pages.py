"""Every code block of the site is run, by a test here or by the one that is named, or it is said why not."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pddl_eval
import polars as pl
import pytest

from tests.docs.markdown import ROOT, Block, blocks, read_page
from tests.docs.readme_outputs import SAMPLE
from tests.support.running import run

SITE = "infra/site/pages"
PAGES = {path.relative_to(ROOT / SITE).as_posix(): blocks(read_page(path.relative_to(ROOT).as_posix()))
         for path in sorted((ROOT / SITE).rglob("*.md"))}  # fmt: skip

CHECKED_BY = {
    "guide/certificates.md": "tests/definition/test_canonical_page.py",
    "guide/integrations.md": "tests/integrations/test_mcp.py",
    "guide/logs.md": "tests/datasets/test_harness.py",
    "guide/reports.md": "tests/report/test_report_formulas.py",
    "guide/verifying.md": "tests/run/test_verify.py",
}
"""Pages all of whose blocks are checked elsewhere."""

NOT_RUN = {
    "pip install": "asks a package index",
    "score hf://": "asks the network",
    "zcat ": "is a pipe of a shell",
    "generate tasks tasks.parquet --domain ferry.pddl": "tests/commands/test_generate.py",
    "generate obfuscate tasks.parquet": "tests/commands/test_outputs.py",
    "generate variants tasks.parquet": "tests/commands/test_generate.py",
    "score logs/": "tests/datasets/test_harness.py",
    "score out/gpt-4o/": "tests/datasets/test_harness.py",
    "score batch_output.jsonl": "tests/datasets/test_harness.py",
    "score LLMs-Planning/": "needs a clone of PlanBench",
    "--references planetarium.parquet": "tests/datasets/test_harness.py",
    "--counters": "writes to a place of the system or to a bucket; tests/run/test_counters.py",
}
"""Lines of a shell that no test here runs, by what is in them, and why not or which test does."""

PROBLEM = "(define (problem p) (:domain {}) (:objects a) (:init (holding a)) (:goal ({})))"


def lines_of(page: str) -> list[str]:
    """The lines of the page's shell blocks that are run here."""
    found = [line for block in PAGES[page] if block.language == "sh" for line in block.text.splitlines()]
    return [line for line in found if line.strip() and not any(part in line for part in NOT_RUN)]


def block_of(page: str, language: str, heading: str) -> Block:
    (found,) = (each for each in PAGES[page] if (each.language, each.heading) == (language, heading))
    return found


def run_page(page: str, folder: Path) -> dict[str, str]:
    """The output of each command of a page, by its line; each ends with 0, or with 1 where that says what is wrong."""
    outputs: dict[str, str] = {}
    with chdir(folder):
        for line in lines_of(page):
            command, *words = shlex.split(line, comments=True)
            assert command == "pddl-eval", line
            words = [
                path for word in words for path in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
            ]
            result = run(*words)
            says_no = (words[0] == "validate" or "--check" in words) and result.exit_code == 1
            assert result.exit_code == 0 or says_no, (line, result.stderr)
            outputs[line] = result.stdout
    return outputs


def write_rows(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def samples(folder: Path, **names: str) -> list[dict[str, Any]]:
    """Answers of three models to four questions of the sample, under other names."""
    rows = pl.read_parquet(SAMPLE).filter(pl.col("domain").is_in(["blocksworld", "gripper"])).to_dicts()
    picked = [rows[0], rows[1], *[row for row in rows if row["domain"] == "gripper"][:2]]
    models = ("gpt-4o", "llama-3-8b", "qwen2.5-72b-instruct")
    made = [
        {"id": row["id"], "model": model, "sample": sample, "domain": row["domain"], "prompt": row["description"]}
        | {names.get(name, name): row[name] for name in ("reference_problem", "generated_problem")}
        for row in picked
        for model in models
        for sample in range(2)
    ]
    return [{names.get(name, name): value for name, value in row.items()} for row in made]


def test_every_block_is_run_or_said_why_not() -> None:
    sessions = {"pycon"}
    for page, found in PAGES.items():
        for block in found:
            known = page in CHECKED_BY or page in WRITTEN or block.language in sessions or block.mark is not None
            skipped = block.language == "sh" and all(
                any(part in line for part in NOT_RUN) for line in block.text.splitlines() if line.strip()
            )
            assert known or skipped, f"{page}: {block.heading}: who runs this {block.language}?"
    for checker in [*CHECKED_BY.values(), *NOT_RUN.values()]:
        assert not (place := re.search(r"tests/\S+\.py", checker)) or (ROOT / place[0]).exists(), checker
    everything = "\n".join(block.text for found in PAGES.values() for block in found)
    assert [part for part in NOT_RUN if part not in everything] == []


def first_page(folder: Path) -> None:
    outputs = run_page("index.md", folder)
    (scored,) = (text for line, text in outputs.items() if " score " in line)
    kernel = block_of("guide/installation.md", "text", "The kernel").text
    pattern = re.sub(r"[\d,]+", r"[\\d,]+", re.escape(kernel.strip()).replace(r"\ ", r"\s+").replace(r"\,", ","))
    assert "kernel " not in scored or re.search(pattern.partition(r"\(")[0].strip(), scored)
    assert (folder / "report" / "index.html").exists()


def paper(folder: Path) -> None:
    pytest.importorskip("altair")
    page, names = "tutorials/paper.md", {"id": "prompt_id", "reference_problem": "gold", "generated_problem": "output"}
    rows = samples(folder, **names)
    assert {*json.loads(block_of(page, "json", "The file").text)} <= {*rows[0]}
    write_rows(folder / "answers.jsonl", rows)
    outputs = run_page(page, folder)
    (scored,) = (text for line, text in outputs.items() if " score " in line)
    shown = block_of(page, "text", "Score").text.splitlines()
    said = scored[scored.index("Models\n") :].splitlines()[: len(shown)]
    shape = [re.sub(r"\d+\.\d", "0.0", re.sub(r" {2,}", "  ", line.rstrip())) for line in (*shown, *said)]
    assert sorted(shape[: len(shown)]) == sorted(shape[len(shown) :])
    assert (folder / "ranking.pdf").stat().st_size and r"\label{" in (folder / "ranking.tex").read_text(
        encoding="utf-8"
    )
    needed = block_of(page, "tex", "The figure and the table").text
    assert all(f"{{{name}}}" in needed for name in ("booktabs", "ranking.pdf", "ranking.tex", "methods.tex"))


def own_domain(folder: Path) -> None:
    page = "tutorials/own-domain.md"
    (folder / "ferry.pddl").write_text(block_of(page, "lisp", "The files").text, encoding="utf-8")
    row = json.loads(block_of(page, "json", "The files").text)
    right = {**row, "plan": "(sail r l) (board car l) (sail l r) (leave car r)"}
    write_rows(folder / "answers.jsonl", [right, row])
    (folder / "problem.pddl").write_text(row["task"], encoding="utf-8")
    (folder / "plan.txt").write_text("(sail r l) (sail l r) (board car l)", encoding="utf-8")
    outputs = run_page(page, folder)
    for heading in ("Why does it fail?", "One plan"):
        line, shown = block_of(page, "sh", heading).text.strip(), block_of(page, "text", heading).text
        assert shown in "\n".join(each.rstrip() for each in outputs[line].splitlines()[-6:]) + "\n" or (
            shown.splitlines() == outputs[line].splitlines()[1 : 1 + len(shown.splitlines())]
        )


def questions(folder: Path) -> None:
    """The model is right after at most four actions."""
    page = "tutorials/questions.md"
    (folder / "ferry.pddl").write_text(block_of(page, "lisp", "The files").text, encoding="utf-8")
    write_rows(folder / "problems.jsonl", [json.loads(block_of(page, "json", "The files").text)])
    generated = next(line for line in lines_of(page) if " generate " in line)
    with chdir(folder):
        said = run(*shlex.split(generated)[1:]).stdout
        asked = pl.read_parquet("questions.parquet").to_dicts()
        known = {each["question_text"]: each["reference_answer"] for each in asked if each["prefix_length"] < 5}

        def model(prompt: str) -> str:
            return next((key for text, key in known.items() if prompt.endswith(text)), "none")

        found: dict[str, Any] = {"model": model}
        exec(block_of(page, "python", "Ask a model").text, found)
        run_page(page, folder)
        exec(block_of(page, "python", "The table").text, found)
    assert block_of(page, "text", "Questions").text.split()[:4] == said.split()[:4]
    shares = found["table"].filter(pl.col("prefix_length") == 0)["answer_correct"]
    assert set(shares) == {100} and found["table"]["answer_correct"].min() < 50


def own_benchmark(folder: Path) -> None:
    """The stand-in forgets a step of each plan with more than six, and of no other one."""
    page = "tutorials/own-benchmark.md"
    made, asked, *others = lines_of(page)
    with chdir(folder):
        for line in (made, asked):
            result = run(*shlex.split(line)[1:], *["--workers", "1"] * (line == made))
            assert result.exit_code == 0, result.output
        exec(block_of(page, "python", "A model").text, {})
        for line in others:
            result = run(*shlex.split(line)[1:])
            assert result.exit_code == 0, result.output
        scored = pl.read_parquet("scored/*.parquet")
    assert scored.height == 40 and set(scored["model"]) == {"gpt-4o-mini"}
    assert (scored["plan_valid"] == (scored["steps"] <= 6)).all()
    assert "62.5 %" in (folder / "report.md").read_text(encoding="utf-8")


def nightly(folder: Path) -> None:
    rows = [
        {"id": number, "reference_problem": PROBLEM.format("blocksworld", "clear a"), "generated_problem": answer}
        for number, answer in enumerate(("no", PROBLEM.format("blocksworld", "on-table a")))
    ]
    better = [{**rows[0], "generated_problem": rows[1]["generated_problem"]}, rows[1]]
    for name, written in (("monday", rows), ("tuesday", better), ("answers", rows)):
        write_rows(folder / f"{name}.jsonl", written)
    with chdir(folder):
        (night,) = (line for line in lines_of("tutorials/nightly.md") if " nightly " in line)
        assert run(*shlex.split(night)[1:]).exit_code == 0
        (today,) = Path("nights").glob("20*")
        today.rename("nights/2026-01-01")  # so that there are two
    run_page("tutorials/nightly.md", folder)
    assert (folder / "all.html").exists() and (folder / "nights" / "nights.html").exists()


def reward(folder: Path) -> None:
    page = "tutorials/reward.md"
    problems = [PROBLEM.format("blocksworld", goal) for goal in ("clear a", "holding a")]
    write_rows(folder / "rollouts.jsonl", [{"reference_problem": problems[0], "completion": each} for each in problems])
    run_page(page, folder)
    found: dict[str, Any] = {"pddl_eval": pddl_eval}
    exec(block_of(page, "python", "In a trainer").text, found)
    assert found["planning_reward"](problems, [problems[0]] * 2, prompt=["", ""]) == [1.0, 0.2]


def feedback(_folder: Path) -> None:
    problem = PROBLEM.format("blocksworld", "clear a")
    asked: list[str] = []

    def model(_prompt: str, _answer: str, told: str) -> str:
        asked.append(told)
        return "(putdown a)"

    names = {"pddl_eval": pddl_eval, "model": model, "answer": "(pickup a)", "prompt": "", "problem": problem}
    exec(block_of("guide/feedback.md", "python", "A repair loop").text, names)
    assert len(asked) == 1 and names["found"].ok  # type: ignore[attr-defined]


def inputs(folder: Path) -> None:
    row = {"reference_plan": "(a)", "generated_plan": "(a)"}
    pl.DataFrame([row]).write_ndjson(folder / "answers.jsonl.gz", compression="gzip", check_extension=False)
    write_rows(folder / "answers.jsonl", [row])
    run_page("guide/inputs.md", folder)


def review(folder: Path) -> None:
    write_rows(folder / "answers.jsonl", samples(folder)[:2])
    run_page("tutorials/review.md", folder)
    assert "permanent link" in (folder / "report" / "rows" / "0.html").read_text(encoding="utf-8")


def validation(folder: Path) -> None:
    (folder / "domain.pddl").write_text("(define (domain d) (:action a :effect (p)))", encoding="utf-8")
    (folder / "problem.pddl").write_text("(define (problem x) (:domain d) (:init) (:goal (p)))", encoding="utf-8")
    (folder / "plans").mkdir()
    for name in ("plan.txt", "plans/1.txt", "plans/2.txt"):
        (folder / name).write_text("(a)", encoding="utf-8")
    run_page("tutorials/validation.md", folder)
    assert "(a)" in (folder / "plan.html").read_text(encoding="utf-8")


def publishing(folder: Path) -> None:
    pytest.importorskip("altair")
    write_rows(folder / "answers.jsonl", samples(folder))
    assert run("score", folder / "answers.jsonl", folder / "scored").exit_code == 0
    run_page("guide/publishing-results.md", folder)
    assert (folder / "report" / "rows.html").exists()


def runs(folder: Path) -> None:
    text = block_of("guide/runs.md", "toml", "Options and settings").text
    (folder / "settings.toml").write_text(text, encoding="utf-8")
    (folder / "logistics.pddl").write_text("(define (domain d) (:action a :effect (p)))", encoding="utf-8")
    with chdir(folder):
        values = pddl_eval.read_config("settings.toml")
    assert (values["row_seconds"], values["workers"]) == (30, 4)
    assert values["columns"] == {"generated_problem": "output", "reference_id": "question"}


WRITTEN: dict[str, Callable[[Path], None]] = {
    "index.md": first_page,
    "guide/installation.md": first_page,
    "guide/feedback.md": feedback,
    "guide/inputs.md": inputs,
    "guide/publishing-results.md": publishing,
    "guide/runs.md": runs,
    "tutorials/nightly.md": nightly,
    "tutorials/own-benchmark.md": own_benchmark,
    "tutorials/own-domain.md": own_domain,
    "tutorials/paper.md": paper,
    "tutorials/questions.md": questions,
    "tutorials/review.md": review,
    "tutorials/reward.md": reward,
    "tutorials/validation.md": validation,
}
"""What runs the blocks of a page."""

SLOW = (first_page, paper, publishing, questions)
"""Those that draw figures or write folders of pages: a few seconds each."""


@pytest.mark.parametrize(
    "check",
    [pytest.param(each, marks=pytest.mark.slow) if each in SLOW else each for each in dict.fromkeys(WRITTEN.values())],
    ids=lambda check: check.__name__,
)
def test_what_a_page_shows_is_what_happens(check: Callable[[Path], None], tmp_path: Path) -> None:
    check(tmp_path)
