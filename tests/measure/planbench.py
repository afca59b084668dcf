"""Published answers, graded again: ``python -m tests.measure.planbench GIT_DIR``.

``GIT_DIR`` is a clone of github.com/karthikv792/LLMs-Planning (PlanBench; a bare one will do). Each recorded plan, and
each raw answer to a prompt in PDDL (``…_pddl.json``), is executed in its instance without a reference, and compared
with the recorded verdict. Nothing of it is kept. The table says what stands behind each difference.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from collections.abc import Iterator
from functools import cache

import polars as pl
from pddl_eval import score_frame
from pddl_eval.definition.plans import actions_of, read_plan

from tests.judges.interpreter import judge

ROOT = "llm_planning_analysis"
RESULTS = re.compile(rf"{ROOT}/results/([^/]+)/([^/]+)/([^/]*)\.json")


@cache
def show(git_dir: str, path: str) -> str | None:
    """A file of the newest commit; None where a partial clone lacks it."""
    shown = subprocess.run(["git", f"--git-dir={git_dir}", "show", f"HEAD:{path}"], capture_output=True, check=False)
    return shown.stdout.decode("utf-8", "replace") if shown.returncode == 0 else None


def answers(git_dir: str) -> Iterator[dict[str, str | bool]]:
    """The rows: extracted plans, and raw answers in PDDL, each with the recorded verdict and the recorded gold plan."""
    listing = ["git", f"--git-dir={git_dir}", "ls-tree", "-r", "--name-only", "HEAD"]
    for path in subprocess.run(listing, capture_output=True, check=True, text=True).stdout.splitlines():
        named, results = RESULTS.fullmatch(path), None
        if named and (results := show(git_dir, path)):
            config = show(git_dir, f"{ROOT}/configs/{named[1]}.yaml") or ""
            settings = dict(re.findall(r"(?m)^(\w+): *['\"]?([^\s'\"]+)", config))
            domain = show(git_dir, f"{ROOT}/instances/{settings.get('domain_file')}")
            for each in json.loads(results)["instances"]:
                recorded = each.get("llm_correct", each.get("correct"))
                file = str(settings.get("instances_template")).format(each["instance_id"])
                problem = show(git_dir, f"{ROOT}/instances/{settings.get('instance_dir')}/{file}")
                if domain is None or problem is None or recorded is None:
                    continue
                row = {"reference_problem": problem, "domain": domain, "recorded": str(recorded) == "True"}
                row |= {"dataset": named[1], "model": named[2], "file": f"{named[3]}/{file}"}
                row["gold"] = str(each.get("ground_truth_plan") or "")
                if each.get("extracted_llm_plan"):
                    yield row | {"kind": "extracted", "generated_plan": str(each["extracted_llm_plan"])}
                if named[3].endswith("_pddl") and each.get("llm_raw_response"):
                    yield row | {"kind": "raw", "generated_plan": str(each["llm_raw_response"])}


def graded(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with our verdict and, where it is another than the recorded one, what stands behind that."""
    ours = score_frame(rows.select("reference_problem", "domain", "generated_plan"))
    gold = rows.select("reference_problem", "domain", pl.col("gold").alias("generated_plan")).unique()
    gold_valid = score_frame(gold).select("reference_problem", gold="generated_plan", gold_valid="plan_valid")
    rows = rows.with_columns(ours.select("plan_valid", "plan_verdict", "plan_detail"))
    rows = rows.join(gold_valid, on=["reference_problem", "gold"], how="left", nulls_equal=True)
    agrees = pl.col("plan_valid").eq_missing(pl.col("recorded"))
    why = (
        pl.when(agrees)
        .then(pl.lit("agree"))
        .when(pl.col("plan_valid").is_null())
        .then(pl.lit("not decided"))
        .when(pl.col("recorded") & pl.col("gold_valid").eq_missing(False))
        .then(pl.lit("the recorded gold plan fails too: the instance was replaced"))
        .when(pl.col("recorded"))
        .then(pl.concat_str(pl.lit("recorded valid: "), "plan_verdict"))
        .otherwise(pl.lit("recorded invalid: valid"))
    )
    return rows.with_columns(why.alias("why"))


def judged(row: dict[str, str]) -> bool:
    """What the judge's interpreter, which shares no code with the validator, says of the plan that was read."""
    steps = read_plan(row["generated_plan"]).steps
    return judge(row["domain"], row["reference_problem"], [actions_of(step) for step in steps]).valid


def main() -> None:
    """Print, for each kind of answer, how often we and the record agree, and what stands behind the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("git_dir")
    parser.add_argument("--differences", action="store_true", help="print each answer with another verdict")
    arguments = parser.parse_args()
    rows = pl.DataFrame(list(answers(arguments.git_dir)))
    started, used = time.perf_counter(), time.process_time()
    found = graded(rows)
    print(f"{len(rows):,} rows in {time.perf_counter() - started:.0f} s ({time.process_time() - used:.0f} s of CPU)\n")
    differ = found.filter(pl.col("why") != "agree")
    with_us = sum(judged(row) is row["plan_valid"] for row in differ.iter_rows(named=True))
    with pl.Config(tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=90, tbl_hide_dataframe_shape=True):
        print(found.group_by("kind", "why").len().sort("kind", "len", descending=[False, True]))
        print(found.group_by("kind", "plan_verdict").len().sort("kind", "len", descending=[False, True]))
        print(f"Where they differ, the judge's interpreter says what we say in {with_us:,} of {len(differ):,} rows.")
        if arguments.differences:
            for row in differ.iter_rows(named=True):
                print(
                    f"{row['kind']} {row['dataset']}/{row['model']}/{row['file']}: {row['why']}: {row['plan_detail']}"
                )


if __name__ == "__main__":
    main()
