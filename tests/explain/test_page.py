"""Pages and pictures stand alone, are well formed, and hold nothing of a hostile answer as it is."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from pddl_eval.definition.verdict import Verdict
from pddl_eval.explain import explain, html_page, scenes_svg

from tests.explain.pairs import ANSWERS, HOSTILE, REFERENCE

VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Checks that tags nest, and keeps them and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("verdict", ANSWERS, ids=str)
def test_a_page_for_every_verdict(verdict: Verdict) -> None:
    explanation = explain(REFERENCE, ANSWERS[verdict])
    page = Page(html_page(explanation, "a title"))
    assert verdict.value in page.text and "a title" in page.text
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not [attributes for _, attributes in page.tags if any(name.startswith("on") for name in attributes)]
    links = [attributes[name] or "" for _, attributes in page.tags for name in ("href", "src") if name in attributes]
    assert all(link.startswith("#") for link in links), "no network"
    ElementTree.fromstring(scenes_svg(explanation))
    fragment = Page(html_page(explanation, whole=False))
    assert not {"html", "head", "body", "main", "title"} & {tag for tag, _ in fragment.tags if tag != "title"}
    assert verdict.value in fragment.text


def test_drawings_and_tables_speak_to_a_screen_reader() -> None:
    page = Page(html_page(explain(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])))
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert [attributes["role"] for attributes in pictures] == ["img"]
    heads = [attributes for tag, attributes in page.tags if tag == "th"]
    assert {attributes["scope"] for attributes in heads} == {"col", "row"}
    captions = [tag for tag, _ in page.tags if tag == "caption"]
    assert len(captions) == [tag for tag, _ in page.tags].count("table")


def hostile_answers() -> dict[str, str]:
    return {
        "prose": HOSTILE + REFERENCE + HOSTILE,
        "refused": REFERENCE.replace("(on b c)", f"(on b {HOSTILE})"),
        "comment": REFERENCE.replace("(:goal", f"; {HOSTILE.replace(chr(10), '')}\n(:goal"),
        "name": REFERENCE.replace("tower", "tower" * 20_000).replace("(clear c)", f"(clear c) ({'p' * 50_000} c)"),
        "drafts": REFERENCE.replace("(on b c)", "(on b q)") * 500,
        "endless": HOSTILE * 10_000,
    }


@pytest.mark.parametrize("name", hostile_answers())
def test_a_hostile_answer_is_escaped_and_bounded(name: str) -> None:
    explanation = explain(REFERENCE, hostile_answers()[name])
    for shown in (html_page(explanation, HOSTILE), scenes_svg(explanation), str(explanation)):
        assert len(shown) < 300_000
        assert "<script" not in shown or shown == str(explanation)
        assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
    Page(html_page(explanation, HOSTILE))
    ElementTree.fromstring(scenes_svg(explanation))
    assert all(len(line) <= 80 for line in str(explanation).splitlines())


def test_markup_of_the_terminal_library_is_text() -> None:
    assert "[bold]rich[/bold]" in str(explain(REFERENCE, "[bold]rich[/bold]" + REFERENCE))


def test_the_same_pair_gives_the_same_picture() -> None:
    pictures = {scenes_svg(explain(REFERENCE, ANSWERS[Verdict.GOAL_DIFFERS])) for _ in range(3)}
    assert len(pictures) == 1


@pytest.mark.parametrize("verdict", [Verdict.GOAL_DIFFERS, Verdict.UNPARSEABLE])
def test_a_picture_is_as_wide_as_its_longest_line(verdict: Verdict) -> None:
    picture = ElementTree.fromstring(scenes_svg(explain(REFERENCE, ANSWERS[verdict])))
    texts = ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert float(picture.attrib["width"]) > 7 * max(map(len, texts))
