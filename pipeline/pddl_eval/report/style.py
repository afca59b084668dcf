"""The style sheet of the HTML report: light and dark, screen, phone and paper, and nothing from the network."""

from __future__ import annotations

from pddl_eval.report.svg import INKS


def style_sheet() -> str:
    """The rules, all of them inside ``.pddl-eval``, so that a notebook around it keeps its own look."""
    light, dark = ("".join(f"--{ink}:{colors[scheme]};" for ink, colors in INKS.items()) for scheme in (0, 1))
    inks = "".join(
        f".pddl-eval .fill-{ink}{{fill:var(--{ink})}}.pddl-eval .stroke-{ink}{{stroke:var(--{ink})}}" for ink in INKS
    )
    return (
        f".pddl-eval{{color-scheme:light dark;{light}}}"
        f"@media (prefers-color-scheme:dark){{.pddl-eval{{{dark}}}}}"
        f"{inks}{_RULES}@media print{{.pddl-eval{{color-scheme:light;{light}}}{_PRINT}}}"
    )


_RULES = """
body:has(>.pddl-eval){margin:0}
.pddl-eval{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
 "Liberation Sans",sans-serif;padding:1rem max(1rem,calc((100% - 72rem)/2));overflow-wrap:anywhere}
.pddl-eval h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
.pddl-eval h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--grid)}
.pddl-eval p{margin:.4rem 0;max-width:46rem}
.pddl-eval .about{color:var(--faint);max-width:none}
.pddl-eval .warning{border-left:4px solid var(--series-3);padding:.5rem .8rem;font-weight:600}
.pddl-eval nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.2rem;list-style:none;padding:0;margin:.8rem 0}
.pddl-eval a{color:var(--equivalent)}
.pddl-eval .figures{columns:3 21rem;column-gap:2.5rem;margin:1rem 0}
.pddl-eval .figures.alone{columns:auto}
.pddl-eval figure{margin:0 0 1.8rem;max-width:34rem;break-inside:avoid}
.pddl-eval figcaption{font-weight:600;margin-bottom:.4rem}
.pddl-eval svg{display:block;width:100%;height:auto;font-family:inherit}
.pddl-eval .scroll{overflow-x:auto;margin:1.2rem 0;overflow-wrap:normal}
.pddl-eval .scroll:focus-visible{outline:2px solid var(--equivalent);outline-offset:2px}
.pddl-eval table{border-collapse:separate;border-spacing:0;font-size:14px;line-height:21px;background:none;
 color:inherit;margin:0;font-variant-numeric:tabular-nums}
.pddl-eval caption{text-align:start;font-weight:600;padding:.2rem 0 .4rem}
.pddl-eval caption span{display:inline-block;max-width:min(100%,calc(100vw - 2rem));position:sticky;left:0}
.pddl-eval th,.pddl-eval td{padding:5px 14px 5px 0;text-align:right;vertical-align:top;background:none;
 border-bottom:1px solid var(--grid)}
.pddl-eval thead th{color:var(--faint);font-weight:600;vertical-align:bottom;border-bottom:1px solid var(--faint)}
.pddl-eval tbody th{font-weight:500}
.pddl-eval .words{text-align:start;max-width:34rem;overflow-wrap:break-word}
.pddl-eval td.words{min-width:13rem}
.pddl-eval th.words{min-width:6.5rem}
.pddl-eval tr>th:first-child{position:sticky;left:0;background:var(--paper)}
.pddl-eval th small{white-space:normal}
.pddl-eval small{color:var(--faint);white-space:nowrap;font-size:12px;line-height:18px;display:block}
.pddl-eval code{font:12px/18px ui-monospace,"Liberation Mono",Menlo,Consolas,monospace;color:var(--faint);display:block;
 background:none;padding:0}
"""

_PRINT = """
.pddl-eval{font-size:10pt;padding:0}
.pddl-eval nav{display:none}
.pddl-eval .scroll{overflow:visible}
.pddl-eval h2,.pddl-eval caption,.pddl-eval figcaption{break-after:avoid}
.pddl-eval tr{break-inside:avoid}
.pddl-eval *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
"""
