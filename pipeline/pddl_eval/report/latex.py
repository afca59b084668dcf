r"""A page as LaTeX: its tables with the rules of the package booktabs, for ``\input`` into a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pddl_eval.pages import CELL_CHARACTERS, LINE_CHARACTERS, Cell, Page, Table
from pddl_eval.shown import line

ESCAPES = {
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "→": r"$\to$",
    "≠": r"$\neq$",
}


def latex(page: Page) -> str:
    r"""The page's tables as ``table`` environments under their sections; they need the package booktabs.

    What the page says besides is in comments; its warnings are also in the text. Names from the data are escaped.

    >>> print(latex(Page("Scores", (), (), ())), end="")
    % Scores
    % Needs \usepackage[T1]{fontenc} and \usepackage{booktabs}.
    """
    lines = [f"% {line(each, LINE_CHARACTERS)}" for each in (page.title, *page.facts)]
    lines.append(r"% Needs \usepackage[T1]{fontenc} and \usepackage{booktabs}.")
    lines += [rf"\par\textbf{{Warning: {escape_latex(each, LINE_CHARACTERS)}}}\par" for each in page.warnings]
    for section in page.sections:
        lines += ["", *(f"% {line(each, LINE_CHARACTERS)}" for each in (section.title, *section.paragraphs))]
        for each in section.tables:
            lines += ["", *_table(each)]
    return "\n".join(lines) + "\n"


def escape_latex(text: str, most: int = CELL_CHARACTERS) -> str:
    r"""The text on one line with everything escaped that TeX takes for a command.

    >>> print(escape_latex("50 % of a_b {x}"))
    50 \% of a\_b \{x\}
    """
    return re.sub("[" + re.escape("".join(ESCAPES)) + "]", lambda found: ESCAPES[found[0]], line(text, most))


def _table(shown: Table) -> list[str]:
    columns = "l" * shown.words + "r" * (len(shown.header) - shown.words)
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(shown.caption)}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([escape_latex(each) for each in shown.header]),
        r"\midrule",
        *(_row([_cell(cell) for cell in row]) for row in shown.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cell(cell: Cell) -> str:
    return escape_latex(cell.text) + (rf" {{\scriptsize ({escape_latex(cell.minor)})}}" if cell.minor else "")
