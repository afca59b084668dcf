"""An explanation as a page that stands alone: no network, no script, light and dark, phone, paper, screen reader.

Every text of the user's passes through ``_show``, which escapes it; the content policy of the page forbids the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from pddl_eval.explain import words
from pddl_eval.explain.explanation import Explanation
from pddl_eval.explain.reading import Piece, PieceKind
from pddl_eval.explain.scene_svg import LEGEND, STYLE, description, scene_drawings
from pddl_eval.explain.shown import shown, shown_block
from pddl_eval.explain.side_by_side import AtomLine, ObjectLine

MOST_LINES = 500
"""Lines of a table."""

MOST_CHARACTERS = 20_000
"""Characters of a piece of the answer."""

PLAN_SHOWN = 200

PAGE_STYLE = """
.pex{font:15px/1.5 system-ui,sans-serif;color:#1f2328;background:#fff;max-width:1200px;margin:0 auto;padding:1rem}
.pex h1{font-size:1.4rem;margin:0}
.pex h2{font-size:1.1rem;margin:1.6rem 0 .4rem}
.pex .yes{color:#116329}
.pex .no{color:#a40e26}
.pex .faint,.pex dt{color:#59636e}
.pex dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.8rem 0}
.pex dd{margin:0;overflow-wrap:anywhere}
.pex table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.6rem 0}
.pex caption{text-align:left;font-weight:600}
.pex th,.pex td{text-align:left;vertical-align:top;padding:.1rem .8rem .1rem 0;overflow-wrap:anywhere}
.pex th{color:#59636e;font-weight:400}
.pex td,.pex pre,.pex code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.pex .mark{width:1.5rem}
.pex tr.differs td{color:#a40e26;background:#ffebe9;font-weight:600}
.pex pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;padding:.5rem;background:#f6f8fa}
.pex pre.problem{border-left:4px solid #1a7f37}
.pex pre.draft{border-left:4px solid #9a6700}
.pex .scenes{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:1rem}
.pex figure{margin:0;overflow-x:auto}
@media (max-width:500px){.pex dl{grid-template-columns:1fr}.pex dd{margin-bottom:.4rem}}
@media (prefers-color-scheme:dark){
.pex{color:#e6edf3;background:#0d1117}
.pex .yes{color:#3fb950}
.pex .no{color:#ff7b72}
.pex .faint,.pex dt,.pex th{color:#9198a1}
.pex tr.differs td{color:#ff7b72;background:#3c1618}
.pex pre{background:#161b22}
}
@media print{.pex{max-width:none}.pex figure,.pex tr{break-inside:avoid}.pex figure svg{min-width:0!important}}
"""

BODY_STYLE = "body{margin:0}@media (prefers-color-scheme:dark){body{background:#0d1117}}"

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
"""


def html_page(explanation: Explanation, title: str = "pddl-eval explain") -> str:
    """The whole page.

    >>> from pddl_eval.explain import explain
    >>> "<script>" in html_page(explain("(define (problem p)", "<script>alert(1)</script>"))
    False
    """
    body = f"</head>\n<body>\n{html_fragment(explanation)}\n</body>\n</html>\n"
    return f"{HEAD}<title>{_show(title)}</title>\n<style>{BODY_STYLE}</style>\n{body}"


def html_fragment(explanation: Explanation) -> str:
    """What the page's body holds, with its own style: for a notebook."""
    tone = {True: "yes", False: "no", None: "faint"}[explanation.verdict.equivalent]
    parts = [
        f'<main class="pex"><style>{PAGE_STYLE}{STYLE}</style>',
        f'<h1 class="{tone}">{_show(words.headline(explanation))}</h1><p>{_show(explanation.verdict.detail, 1000)}</p>',
        _terms(words.facts(explanation)),
        *_scenes(explanation),
        *_problems(explanation),
        *_sides(explanation),
        *_readings(explanation),
        "</main>",
    ]
    return "\n".join(parts)


def _show(text: str, most: int = 200) -> str:
    return escape(shown(text, most))


def _terms(told: Iterable[tuple[str, str]]) -> str:
    items = (f"<dt>{_show(label)}</dt><dd>{_show(value, MOST_CHARACTERS)}</dd>" for label, value in told)
    return f"<dl>{''.join(items)}</dl>"


def _scenes(explanation: Explanation) -> Iterator[str]:
    drawings = scene_drawings(explanation)
    if drawings:
        yield f'<h2>Scenes</h2><p>{_show(description(explanation), 400)} <span class="faint">{_show(LEGEND)}</span></p>'
        figures = "".join(f'<figure tabindex="0">{drawing}</figure>' for drawing in drawings)
        yield f'<div class="scenes">{figures}</div>'


def _problems(explanation: Explanation) -> Iterator[str]:
    if explanation.reference.problem is None and explanation.generated.problem is None:
        return
    yield "<h2>Side by side</h2>"
    for title, lines, remark in words.tables(explanation):
        yield _table(title, lines, explanation.compares)
        if remark or not lines:
            yield f'<p class="faint">{_show(remark or "none", 1000)}</p>'


def _table(title: str, lines: Sequence[ObjectLine | AtomLine], compares: bool) -> str:
    rows = []
    for line in lines[:MOST_LINES]:
        columns = "".join(f"<td>{_show(cell)}</td>" for cell in words.cells(line))
        if compares and line.differs:
            rows.append(f'<tr class="differs"><td class="mark" aria-label="different">≠</td>{columns}</tr>')
        else:
            rows.append(f'<tr><td class="mark"></td>{columns}</tr>')
    if len(lines) > MOST_LINES:
        rows.append(f'<tr><td class="mark"></td><td colspan="2">… {len(lines) - MOST_LINES:,} more</td></tr>')
    different = sum(line.differs for line in lines) if compares else 0
    caption = f"{title} ({different:,} different)" if different else title
    head = '<tr><td class="mark"></td><th scope="col">reference</th><th scope="col">answer</th></tr>' if rows else ""
    return f"<table><caption>{_show(caption)}</caption><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _sides(explanation: Explanation) -> Iterator[str]:
    for name, side in (("reference", explanation.reference), ("answer", explanation.generated)):
        told = [
            ("added by fullySpecify", words.specified(side, explanation.static)),
            ("plan", words.plan(side, PLAN_SHOWN)),
            ("certificate", side.certificate or "none"),
        ]
        yield f"<h2>The {name}: goal, plan, certificate</h2>{_terms(told)}"


def _readings(explanation: Explanation) -> Iterator[str]:
    for name, side in (("reference", explanation.reference), ("answer", explanation.generated)):
        yield f"<h2>What was read of the {name}</h2>"
        yield "".join(_piece(piece) for piece in side.pieces) or '<p class="faint">nothing was there to read</p>'


def _piece(piece: Piece) -> str:
    lines = "line" if piece.first_line == piece.last_line else "lines"
    told = f"{lines} {words.lines_of(piece)}: {words.PIECES[piece.kind]}"
    told += f" ({piece.note})" if piece.note else ""
    text = escape(shown_block(piece.text, MOST_CHARACTERS))
    opened = " open" if piece.kind in (PieceKind.DRAFT, PieceKind.PROBLEM) or len(piece.text) < 500 else ""
    return f'<details{opened}><summary>{_show(told, 400)}</summary><pre class="{piece.kind}">{text}</pre></details>'
