"""One verdict through every door: ``python -m tests.measure.doors --count 2000``.

Mixed rows (problems, plans, domains, questions; right, wrong and damaged) are judged by the functions, by
``score_frame``, by ``pddl-eval score``, by ``reward``, by what the playground runs and, where ``mcp`` is installed, by
its tools; plans also through unified-planning, where that is installed. Verdict and sentence have to be the same; a
reward has to be 1.0 exactly for what is right. Exits with 1 where one differs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pddl_eval
import polars as pl

from infra.site import in_browser
from tests.measure.tally import Tally, drawing
from tests.support.running import run
from tests.support.sample import DOMAIN_TEXTS

Row = dict[str, str]
Said = tuple[str | None, str]
PREFIX = {"problem": "", "plan": "plan_", "domain": "domain_", "answer": "answer_"}
RIGHT = {"problem": "equivalent", "plan": "plan_valid", "domain": "domain_equivalent", "answer": "answer_correct"}


def kind_of(row: Row) -> str:
    return next(name.removeprefix("generated_") for name in row if name.startswith("generated_"))


def rows(count: int, random: Random, folder: Path) -> Iterator[Row]:
    """Four kinds in turn; half of the answers are those of another row, a quarter is damaged."""
    assert run("generate", "sample", folder / "a.parquet").exit_code == 0
    assert run("generate", "sample", folder / "q.parquet", "--questions").exit_code == 0
    problems = pl.read_parquet(folder / "a.parquet").to_dicts()
    questions = pl.read_parquet(folder / "q.parquet").to_dicts()
    references = {row["reference_problem"]: row["domain"] for row in problems}
    plans = {text: pddl_eval.compare_problems(text, text).plan or () for text in references}
    for number in range(count):
        kind = [*PREFIX][number % 4]
        if kind == "problem":
            row, other = random.choice(problems), random.choice(problems)
            texts = {"reference_problem": row["reference_problem"]}
            answer = (row if number % 8 < 4 else other)["generated_problem"] or ""
        elif kind == "plan":
            reference = random.choice([*plans])
            texts = {"reference_problem": reference}
            answer = "\n".join(
                f"({' '.join(step)})" for step in plans[reference if number % 8 < 4 else random.choice([*plans])]
            )
        elif kind == "domain":
            name, other_name = (random.choice([*DOMAIN_TEXTS]) for _ in range(2))
            texts = {"reference_domain": DOMAIN_TEXTS[name]}
            answer = DOMAIN_TEXTS[name if number % 8 < 4 else other_name]
        else:
            row, other = random.choice(questions), random.choice(questions)
            texts = {name: row[name] or "" for name in ("question", "reference_problem", "plan", "domain")}
            answer = (row if number % 8 < 4 else other)["generated_answer"] or ""
        yield {**{name: text for name, text in texts.items() if text}, f"generated_{kind}": damaged(answer, random)}


def damaged(text: str, random: Random) -> str:
    """The text, or without a part of it."""
    if not text or random.random() < 0.75:
        return text
    start = random.randrange(len(text))
    return text[:start] + text[start + random.randrange(1, 20) :]


def by_function(row: Row) -> Said:
    kind, domain = kind_of(row), row.get("domain")
    answer, reference = row[f"generated_{kind}"], row.get("reference_problem", "")
    if kind == "problem":
        found: Any = pddl_eval.compare_problems(reference, answer)
    elif kind == "plan":
        found = pddl_eval.validate(answer, reference)
    elif kind == "domain":
        found = pddl_eval.compare_domains(row["reference_domain"], answer)
    else:
        found = pddl_eval.judge_answer(row["question"], answer, reference, domain, plan=row.get("plan", ""))
    return found.verdict.value, found.detail or ""


def by_tool(row: Row) -> Said:
    from pddl_eval.integrations import mcp

    kind, domain = kind_of(row), row.get("domain")
    answer, reference = row[f"generated_{kind}"], row.get("reference_problem", "")
    if kind == "problem":
        found = mcp.compare_problems(reference, answer)
    elif kind == "plan":
        found = mcp.validate(answer, reference)
    elif kind == "domain":
        found = mcp.compare_domains(row["reference_domain"], answer)
    else:
        found = mcp.judge_answer(row["question"], answer, reference, domain, row.get("plan", ""))
    return found["verdict"], found["detail"] or ""


def valid_for_unified_planning(row: Row) -> bool | None:
    """What unified-planning's interface says, with this program as its validator; None for what it does not read."""
    from pddl_eval.integrations.unified_planning import Validator
    from unified_planning.exceptions import UPException
    from unified_planning.io import PDDLReader

    named = pddl_eval.parse_problem(row["reference_problem"]).domain
    reader = PDDLReader()
    try:
        problem = reader.parse_problem_string(DOMAIN_TEXTS[named], row["reference_problem"])
        plan = reader.parse_plan_string(problem, row["generated_plan"])
    except (UPException, SyntaxError, AssertionError, KeyError):
        return None
    return bool(Validator().validate(problem, plan))


def in_the_playground(row: Row) -> Said:
    found = json.loads(in_browser.answer(json.dumps({"row": row})))
    return found["verdict"], found["detail"]


def of_table(frame: pl.DataFrame, drawn: list[Row]) -> list[Said]:
    """What columns of scores say of the rows, in their order."""
    return [
        (each[f"{PREFIX[kind]}verdict"], each[f"{PREFIX[kind]}detail"] or "")
        for each, kind in zip(frame.to_dicts(), map(kind_of, drawn), strict=True)
    ]


def main() -> int:
    parser = drawing(__doc__, 2_000, "rows")
    chosen = parser.parse_args()
    tally = Tally("rows", "differ")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn = list(rows(chosen.count, Random(chosen.seed), folder))
        for kind in PREFIX:
            of_kind = [row for row in drawn if kind_of(row) == kind]
            frame = pl.DataFrame(of_kind, infer_schema_length=None)
            frame.write_ndjson(folder / f"{kind}.jsonl")
            assert run("score", folder / f"{kind}.jsonl", folder / kind).exit_code == 0
            table = pddl_eval.score_frame(frame)
            scored = pl.read_parquet(folder / kind / "**/*.parquet", glob=True)
            doors: dict[str, list[Said]] = {
                "score_frame": of_table(pl.DataFrame(table), of_kind),
                "pddl-eval score": of_table(scored, of_kind),
                "playground": [in_the_playground(row) for row in of_kind],
            }
            if find_spec("mcp"):
                doors["MCP"] = [by_tool(row) for row in of_kind]
            expected = [by_function(row) for row in of_kind]
            for door, said in doors.items():
                for row, one, other in zip(of_kind, expected, said, strict=True):
                    tally.count([f"{kind}: {door}"], "rows", "differ" * (one != other))
                    if one != other:
                        tally.disagree(f"{kind}, {door}: {one} and {other}\n{json.dumps(row)}")
            if kind == "plan" and find_spec("unified_planning"):
                for row, (verdict, _) in zip(of_kind, expected, strict=True):
                    valid = valid_for_unified_planning(row)
                    differs = valid is not None and valid != (verdict == "valid")
                    tally.count(["plan: unified-planning"], "rows" * (valid is not None), "differ" * differs)
                    if differs:
                        tally.disagree(f"unified-planning: {valid}, {verdict}\n{json.dumps(row)}")
            count_rewards(tally, kind, of_kind, pl.DataFrame(table)[RIGHT[kind]].to_list())
    return tally.finish(chosen.seed)


def count_rewards(tally: Tally, kind: str, of_kind: list[Row], right: list[bool | None]) -> None:
    """1.0 is what is right, and nothing else."""
    for row, is_right in zip(of_kind, right, strict=True):
        given = {name: row.get(name) for name in ("domain", "question", "plan") if row.get(name)}
        name = "reference" if kind in ("problem", "domain") else "problem"
        given[name] = row["reference_domain" if kind == "domain" else "reference_problem"]
        value = pddl_eval.reward(row[f"generated_{kind}"], kind=kind, **given)
        differs = is_right is not None and (value == 1.0) != is_right
        tally.count([f"{kind}: reward"], "rows", "differ" * differs)
        if differs:
            tally.disagree(f"{kind}, reward: {value}, right: {is_right}\n{json.dumps(row)}")


if __name__ == "__main__":
    sys.exit(main())
