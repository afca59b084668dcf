"""The README is true: its outputs, figures, session, tables, options and links."""

from __future__ import annotations

import doctest
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from pddl_eval import __version__
from pddl_eval.domains import known_domain_names
from pddl_eval.options import MEANINGS

from tests.docs.commands import COMMANDS
from tests.docs.markdown import ROOT, blocks, headings, links, read_page
from tests.docs.readme_outputs import FIGURES, outputs, tables

README = read_page("README.md")
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "infra/README.md"]
PAGES += sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "infra" / "site" / "pages").rglob("*.md"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    return outputs(tmp_path_factory.mktemp("readme"))


def masked(text: str) -> str:
    """Without what differs from run to run and from installation to installation: times and versions."""
    text = re.sub(r"[\d,]+ pairs/s in [\d.]+ s", "… pairs/s in … s", text)
    return re.sub(r"([a-z-]+):\d+(\.\d+)+", r"\1:…", text)


def drawn_words(svg: str) -> list[str]:
    """Every text of a drawing, its title and description too; places may differ with the library that lays out."""
    shown = (element for element in ElementTree.fromstring(svg).iter() if not element.tag.endswith("style"))
    return sorted(element.text for element in shown if (element.text or "").strip())


def table_below(heading: str) -> str:
    """The lines of the section that are rows of a table."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return "\n".join(line for line in section.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("mark", ["score", "explain", "signature"])
def test_the_output_shown_is_the_output_made(mark: str, made: tuple[dict[str, str], dict[str, str]]) -> None:
    (shown,) = (block.text for block in blocks(README) if block.mark == mark)
    assert masked(shown) == masked(made[0][mark]), "python -m tests.docs.readme_outputs writes the new one"


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_figure_shown_is_the_figure_made(name: str, made: tuple[dict[str, str], dict[str, str]]) -> None:
    assert FIGURES[name].relative_to(ROOT).as_posix() in links(README)
    shown = FIGURES[name].read_text(encoding="utf-8")
    assert drawn_words(shown) == drawn_words(made[1][name]), "python -m tests.docs.readme_outputs draws the new one"


def test_the_session_in_python_runs() -> None:
    session = "\n".join(block.text for block in blocks(README) if block.language == "pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_first_two_commands_are_those_of_the_quick_start() -> None:
    first, second = [block for block in blocks(README) if block.language == "sh"][:2]
    assert first.heading == second.heading == "Quick start"
    assert "score pipeline/pddl_eval/benchmark/sample.parquet" in first.text
    assert second.text.splitlines()[-1] == ".venv/bin/pytest"


def test_every_command_is_in_the_table_and_has_the_options_that_are_named() -> None:
    rows = table_below("Commands")
    assert set(re.findall(r"`pddl-eval ([a-z]+)", rows)) == set(COMMANDS)
    for call in re.findall(r"`pddl-eval ([a-z]+ [^`]*)`", README):
        words = call.split()
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= COMMANDS[words[0]].options, call


def test_every_input_column_and_every_known_domain_is_named() -> None:
    named = re.findall(r"`([a-z_-]+)`", table_below("Columns").partition("| output |")[0])
    assert set(named) == {*MEANINGS, *known_domain_names()}


@pytest.mark.parametrize("mark", ["columns", "verdicts", "domain verdicts"])
def test_the_tables_are_the_programs(mark: str) -> None:
    (page,) = (page for page in map(read_page, PAGES) if f"<!-- {mark} -->" in page)
    assert f"<!-- {mark} -->\n\n{tables()[mark]}\n" in page, "python -m tests.docs.readme_outputs writes it"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in links(read_page(page)):
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            file = (ROOT / page).parent.joinpath(path) if path else ROOT / page
            assert file.exists(), target
            assert not anchor or anchor in headings(file.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("page", PAGES)
def test_tables_have_as_many_cells_in_each_row(page: str) -> None:
    rows = [re.sub(r"`[^`]*`", "", line) for line in read_page(page).splitlines()]
    for above, row in pairwise(rows):
        if above.startswith("|") and row.startswith("|"):
            assert above.count("|") == row.count("|"), row


def test_changelog_and_citation_name_the_version() -> None:
    assert f"\n## {__version__}\n" in read_page("CHANGELOG.md")
    assert f"\nversion: {__version__}\n" in read_page("CITATION.cff")


def test_every_page_is_checked_here() -> None:
    pages = [page for folder in ("pipeline", "jobs", "infra", "tests") for page in (ROOT / folder).rglob("*.md")]
    assert {page.relative_to(ROOT).as_posix() for page in pages} <= set(PAGES)
