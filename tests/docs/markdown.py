"""What the tests of this folder read in a Markdown page: its sections, fenced blocks and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, the heading above it and the HTML comment right above it."""

    language: str
    text: str
    heading: str
    mark: str | None


def read_page(path: str) -> str:
    """A page of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in their order."""
    found: list[Block] = []
    heading, mark, inside = "", None, None
    lines: list[str] = []
    for line in page.splitlines():
        if inside is None and line.startswith("```"):
            inside, lines = line.removeprefix("```").strip(), []
        elif inside is not None and line == "```":
            found.append(Block(inside, "\n".join(lines) + "\n", heading, mark))
            inside, mark = None, None
        elif inside is not None:
            lines.append(line)
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        elif comment := re.fullmatch(r"<!-- (.+) -->", line):
            mark = comment.group(1)
        elif line.strip():
            mark = None
    assert inside is None, "a fenced block is not closed"
    return found


def prose(page: str) -> str:
    """The page without its fenced blocks and code spans."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))


def headings(page: str) -> set[str]:
    """The anchors of the page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def links(page: str) -> list[str]:
    """The targets of the page's links and images."""
    return re.findall(r"\]\(([^)\s]+)\)", prose(page)) + re.findall(r'(?:src|href|srcset)="([^"]+)"', prose(page))
