"""A page of HTML as a tree of elements; what is not nested well is refused."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

VOID = {"meta", "br", "wbr", "link", "img", "input"}


class Page(HTMLParser):
    """The elements of a page in their order, and the text that a reader sees."""

    def __init__(self, page: str | Path) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document")
        self.path = page if isinstance(page, Path) else None
        self._open = [self.root]
        self.feed(page.read_text(encoding="utf-8") if isinstance(page, Path) else page)
        self.close()
        assert self._open == [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = SubElement(self._open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in VOID:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        SubElement(self._open[-1], tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        last = self._open[-1]
        if len(last):
            last[-1].tail = (last[-1].tail or "") + data
        else:
            last.text = (last.text or "") + data

    def all(self, tag: str) -> list[Element]:
        return list(self.root.iter(tag))

    def elements(self) -> Iterator[Element]:
        return self.root.iter()

    @property
    def text(self) -> str:
        """Everything but scripts and styles."""
        return seen(self.root)

    def tables(self) -> dict[str, list[list[Element]]]:
        """The cells of each table's rows, without its head, by its caption."""
        return {
            seen(caption).strip(): [list(row) for body in table.iter("tbody") for row in body]
            for table in self.all("table")
            for caption in table.iter("caption")
        }


def seen(element: Element) -> str:
    """The text of an element as a reader sees it, white space collapsed."""

    def parts(each: Element) -> Iterator[str]:
        if each.tag not in ("script", "style"):
            yield each.text or ""
            for child in each:
                yield from parts(child)
                yield child.tail or ""

    return " ".join("".join(parts(element)).split())


def links(element: Element) -> list[str]:
    """The addresses below an element."""
    return [each.get("href") or "" for each in element.iter("a")]
