r"""A page as LaTeX: its tables with the rules of the package booktabs, for ``\input`` into a paper."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from pddl_eval.pages import CELL_CHARACTERS, LINE_CHARACTERS, Page, Table, slug
from pddl_eval.shown import line

ESCAPES = {
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # \textquotedbl is an error in a paper without the T1 fonts
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "→": r"$\to$",
    "≠": r"$\neq$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}

SET_UP = frozenset(map(chr, (*range(0x20, 0x7F), *range(0xA1, 0x180)))) - set("ĦħĿŀŉſĸŦŧ\u00ad")
"""Characters that pdflatex knows with the font encoding T1; the engines that read Unicode know all."""

SMALL = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
LIKE_LATIN = ("alpha", "beta", "epsilon", "zeta", "eta", "iota", "kappa", "mu", "nu", "rho", "tau", "chi")
GREEK = {*SMALL, *(letter.capitalize() for letter in SMALL if letter not in LIKE_LATIN)}
"""Letters that have a command in mathematics: no capital that looks like a Latin one."""

WIDE_CHARACTERS, COLUMN_CHARACTERS, WORD_CHARACTERS = 45, 70, 20
"""A longer text is wrapped; a table with longer lines spans both columns of a page that has two; a longer word in a
wrapped text, such as a model's name, is broken where TeX needs it, after ten letters at the latest."""

FIT_TO_WIDTH = (
    r"\providecommand{\fittowidth}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}"
    "  % What is wider than the column shrinks."
)

UNICODE_CHARACTER = (
    r"\providecommand{\unicodecharacter}[2]{\ifdefined\Umathcode#1\else#2\fi}"
    "  % A character, and what stands for it with pdflatex."
)


def latex(page: Page) -> str:
    r"""The page's tables as ``table`` environments under their sections; they need the package booktabs.

    What the page says besides is in comments; its warnings are also in the text. Names from the data are escaped.

    >>> print(latex(Page("Scores", (), (), ())), end="")
    % Scores
    % Needs \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{graphicx}.
    """
    lines = [f"% {line(each, LINE_CHARACTERS)}" for each in (page.title, page.lead, *page.facts) if each]
    lines.append(r"% Needs \usepackage[T1]{fontenc}, \usepackage{booktabs} and \usepackage{graphicx}.")
    lines += [rf"\par\textbf{{Warning: {escape_latex(each, LINE_CHARACTERS)}}}\par" for each in page.warnings]
    labels = Counter[str]()
    for section in page.sections:
        lines += ["", *(f"% {line(each, LINE_CHARACTERS)}" for each in (section.title, *section.paragraphs))]
        for each in section.written:
            name = slug(each.caption) or "table"
            labels[name] += 1
            lines += ["", *_table(each, f"{name}-{labels[name]}" if labels[name] > 1 else name)]
    if page.methods:
        text = paragraph(page.methods, LINE_CHARACTERS)
        lines += ["", "% A paragraph for the text.", rf"\providecommand{{\pddlevalmethods}}{{{text}}}"]
    used = {r"\fittowidth{": FIT_TO_WIDTH, r"\unicodecharacter{": UNICODE_CHARACTER}
    needed = [definition for name, definition in used.items() if any(name in each for each in lines)]
    place = 1 + next(number for number, each in enumerate(lines) if each.startswith("% Needs"))
    lines[place:place] = needed
    return "\n".join(lines) + "\n"


def escape_latex(text: str, most: int = CELL_CHARACTERS) -> str:
    r"""The text on one line with everything escaped that TeX takes for a command, or that pdflatex has no letter for.

    >>> print(escape_latex("50 % of a_b {x}"), escape_latex("Ω"))
    50 \% of a\_b \{x\} \unicodecharacter{Ω}{$\Omega$}
    """
    return "".join(map(_escaped, line(text, most)))


def _breakable(text: str) -> str:
    """The text of a cell, in which a line may end inside a long word."""
    parts = (
        re.findall(r"[^\W_]{1,10}[\W_]*|[\W_]+", word) if len(word) > WORD_CHARACTERS else [word]
        for word in line(text, CELL_CHARACTERS).split(" ")
    )
    return " ".join(r"\allowbreak{}".join(map(escape_latex, each)) for each in parts)


def paragraph(text: str, most: int) -> str:
    r"""Sentences as LaTeX, in which a line may end inside a signature.

    >>> print(paragraph("beta:0.75|answer:first", 100))
    {\emergencystretch=3em beta:\allowbreak{}0.\allowbreak{}75\textbar{}\allowbreak{}answer:\allowbreak{}first\par}
    """
    broken = re.sub(
        r"\\textbar\{\}|(?<=\w)[:.+](?=\w)", lambda each: rf"{each[0]}\allowbreak{{}}", escape_latex(text, most)
    )
    return rf"{{\emergencystretch=3em {broken}\par}}"


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    return character if character in SET_UP else rf"\unicodecharacter{{{character}}}{{{_spelled(character)}}}"


def _spelled(character: str) -> str:
    """A Greek letter as TeX names it, an accented one without its accent, else the number of the character."""
    kind, _, name = unicodedata.name(character, "").partition(" LETTER ")
    if kind in ("GREEK SMALL", "GREEK CAPITAL"):
        greek = name.lower().replace("lamda", "lambda")
        if kind == "GREEK CAPITAL":
            greek = greek.capitalize()
        if greek in GREEK:
            return rf"$\{greek}$"
    plain = unicodedata.normalize("NFKD", character)[0]
    return plain if plain in SET_UP and plain not in ESCAPES else f"[U+{ord(character):04X}]"


def _table(shown: Table, label: str) -> list[str]:
    """A table no wider than its column: sentences are wrapped, intervals stand below, what is still wider shrinks."""
    columns = "".join(
        (r"p{0.4\linewidth}" if _is_wide(shown, place) else "l") if place < shown.words else "r"
        for place in range(len(shown.header))
    )
    longest = (max((len(row[place].text) for row in shown.rows), default=0) for place in range(len(shown.header)))
    heads = (max(each, len(name)) for each, name in zip(longest, shown.header, strict=True))
    table = "table*" if sum(min(each, WIDE_CHARACTERS) + 2 for each in heads) > COLUMN_CHARACTERS else "table"
    rows: list[str] = []
    for row in shown.rows:
        texts = [(_breakable if _is_wide(shown, place) else escape_latex)(cell.text) for place, cell in enumerate(row)]
        cells = [rf"\textbf{{{text}}}" if cell.bold else text for cell, text in zip(row, texts, strict=True)]
        rows.append(_row(cells))
        if any(cell.minor for cell in row):
            rows.append(_row([rf"{{\scriptsize {escape_latex(cell.minor)}}}" if cell.minor else "" for cell in row]))
    return [
        rf"\begin{{{table}}}",
        r"\centering",
        rf"\caption{{{escape_latex('. '.join(filter(None, (shown.caption, shown.bold))))}}}",
        rf"\label{{tab:{label}}}",
        rf"\fittowidth{{\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row([escape_latex(each) for each in shown.header]),
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\end{{{table}}}",
    ]


def _is_wide(shown: Table, place: int) -> bool:
    return any(len(row[place].text) > WIDE_CHARACTERS for row in shown.rows)


def _row(cells: Sequence[str]) -> str:
    # The line end or rule above would take a `[` or a `*` for its own.
    start = "{}" if cells[0].startswith(("[", "*")) else ""
    return rf"{start}{' & '.join(cells)} \\"
