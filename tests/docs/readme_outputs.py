"""What the README and the site's pages show is made by the program: ``python -m tests.docs.readme_outputs`` writes it.

``test_readme`` makes the same and compares, except for times, places and versions.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner
from pddl_eval.commands.cli import main as cli
from pddl_eval.definition.metrics import PAIRS
from pddl_eval.definition.verdict import DomainVerdict, Judgement, NamedVerdict, PlanVerdict, Verdict
from pddl_eval.report import build_report
from pddl_eval.report.figures import drawn_as, figures
from pddl_eval.scoring.columns import FEEDBACK, ROW_COLUMNS
from pddl_eval.scoring.findings import Check

from tests.docs.markdown import ROOT
from tests.support.damaged_plans import WAYS

PAGES = [ROOT / "README.md", *sorted((ROOT / "infra" / "site" / "pages").rglob("*.md"))]
SAMPLE = ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"
FIGURES = {"report": ROOT / "tests" / "docs" / "report.svg", "explain": ROOT / "tests" / "docs" / "explain.svg"}
WIDTH = 100


def run(*arguments: object, folder: Path) -> str:
    """The output of ``pddl-eval`` in that folder."""
    with chdir(folder):
        result = CliRunner().invoke(cli, [*map(str, arguments)], env={"COLUMNS": str(WIDTH), "NO_COLOR": "1"})
    assert result.exit_code == 0, result.stderr
    return result.stdout


def outputs(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The blocks by their marks, and the figures by their names, made in an empty folder."""
    score = run("score", SAMPLE, "scored", folder=folder).replace(f"{folder}/", "")
    explain = run("explain", "scored", "--row", 14, "--only", "problem", "--svg", "why.svg", folder=folder)
    # Not ``report --figures``, which draws all of them, as PNG and PDF too.
    (rates,) = (each for each in figures(build_report(folder / "scored")) if each.name == "rates-by-domain")
    signature = next(line for line in score.splitlines() if line.startswith("signature")).split()[1]
    why = "\n".join(explain.splitlines()[:3])
    blocks = {"score": score, "explain": explain, "why": why, "signature": signature}
    return (
        {mark: "".join(f"{line.rstrip()}\n" for line in text.splitlines()) for mark, text in blocks.items()},
        {
            "report": drawn_as(rates, "svg", wide=True).decode(),
            "explain": (folder / "why.svg").read_text(encoding="utf-8"),
        },
    )


def tables() -> dict[str, str]:
    """The tables of score columns and of verdicts, by their marks."""

    def verdicts(kind: type[NamedVerdict]) -> str:
        lines = [f"| `{each.value}` | {'right: ' if each.right else ''}{each.meaning} |" for each in kind]
        return "\n".join(["| verdict | meaning |", "|---|---|", *lines]) + "\n"

    columns = [column for pair in PAIRS for column in pair.columns]
    scores = [
        f"| `{each.name}` | {each.type.__name__} | {each.meaning} |" for each in (*columns, FEEDBACK, *ROW_COLUMNS)
    ]
    severity = {True: "error", False: "warning"}
    checks = [f"| `{each.value}` | {severity[each.is_error]} | {each.meaning} |" for each in Check]
    return {
        "columns": "\n".join(["| output | type | meaning |", "|---|---|---|", *scores]) + "\n",
        "verdicts": verdicts(Verdict),
        "plan verdicts": verdicts(PlanVerdict),
        "domain verdicts": verdicts(DomainVerdict),
        "answer verdicts": verdicts(Judgement),
        "ways read": table_of_ways(damaged=False),
        "ways damaged": table_of_ways(damaged=True),
        "checks": "\n".join(["| check | severity | meaning |", "|---|---|---|", *checks]) + "\n",
    }


def table_of_ways(*, damaged: bool) -> str:
    """The ways in which the texts of ``damaged_plans`` are decorated, or damaged."""
    rows = []
    for way in (each for each in WAYS.values() if each.damage == damaged):
        example = way.example.replace("|", "\\|").replace("\r", "␍").replace("\n", "⏎")
        marks = "``" if "`" in example else "`"
        shown = f"{marks} {example} {marks}" if "`" in example else f"`{example}`"
        rows.append(f"| {shown} | {way.about.rstrip('.').replace('|', chr(92) + '|')} |")
    return "\n".join(["| the text | what it is |", "|---|---|", *rows]) + "\n"


def main() -> None:
    """Write the outputs and the tables into the pages, and the figures beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        blocks, drawings = outputs(Path(folder))
    made = {mark: f"```text\n{text}```\n" for mark, text in blocks.items()}
    made |= {mark: f"\n{text}" for mark, text in tables().items()}
    for file in PAGES:
        page = file.read_text(encoding="utf-8")
        for mark, text in made.items():
            shown = rf"(<!-- {mark} -->\n)(?:```text\n.*?```\n|\n(?:\|.*?\n)*)"
            page = re.sub(shown, lambda found, text=text: found[1] + text, page, flags=re.DOTALL)
        file.write_text(page, encoding="utf-8")
    for name, drawing in drawings.items():
        FIGURES[name].write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
