"""The site for programs that read it: each page as Markdown beside its HTML, a list of them, and a skill."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from pydoc import locate
from typing import Any

SKILL = Path(__file__).with_name("skill.md")
"""What an agent has to know first; the commands and the pages follow."""


def files_for_agents(pages: Mapping[str, Any], titled: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    """Each file by its place in the site. ``titled`` gives the Markdown of a page with links within the site."""
    listed = [f"- [{page.title}]({place}){_about(page.text)}" for place, page in pages.items()]
    for place, page in pages.items():
        yield place, _with_docstrings(titled(page.text, place))
    index = pages["index.md"]
    about = _about(index.text).removeprefix(": ")
    yield "llms.txt", "\n".join([f"# {index.title}\n", f"> {about}\n", "## Pages\n", *listed, ""])
    commands = re.findall(r"^\|.*\|$", titled(pages["commands/index.md"].text, "commands/index.md"), re.MULTILINE)
    commands = [re.sub(r"\]\((\.\./)?", lambda up: "](" if up[1] else "](commands/", row) for row in commands]
    guide = [each for each in listed if "(guide/" in each or "(tutorials/" in each]
    skill = SKILL.read_text(encoding="utf-8")
    yield "SKILL.md", "\n".join([skill, "## Commands\n", *commands, "\n## Pages\n", *guide, ""])


def _about(text: str) -> str:
    """The first sentence of a page's first paragraph of words, behind a colon."""
    for block in text.split("\n\n"):
        if re.match(r"[A-Z`*\[]", block) and not block.startswith("**"):
            sentence = re.sub(r"\]\([^)]*\)|[\[*]", "", " ".join(block.split())).partition(". ")[0].rstrip(".:")
            return f": {sentence}"
    return ""


def _with_docstrings(text: str) -> str:
    """The Markdown with what mkdocstrings puts in its places: signature and docstring of a name."""
    return re.sub(r"^::: (\S+)\n(?: .*\n)*", lambda found: _described(found[1]), text, flags=re.MULTILINE)


def _described(path: str) -> str:
    value = locate(path)
    called = ""
    if callable(value):
        try:
            called = str(inspect.signature(value))
        except (TypeError, ValueError):
            called = "(…)"
    said = value.__doc__ if callable(value) or inspect.ismodule(value) else None  # Else it is that of its type.
    return f"### `{path}{called}`\n\n{inspect.cleandoc(said or '')}\n"


def write_for_agents(site: Path, pages: Mapping[str, Any], titled: Callable[[str, str], str]) -> None:
    """Write the files into a built site."""
    for place, text in files_for_agents(pages, titled):
        (site / place).parent.mkdir(parents=True, exist_ok=True)
        (site / place).write_text(text, encoding="utf-8")
