"""The README and the pages of the site are true: outputs, figures, sessions, tables, options and links."""

from __future__ import annotations

import doctest
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from pddl_eval.columns import MEANINGS
from pddl_eval.definition.domains import known_domain_names
from pddl_eval.definition.metrics import PAIRS
from pddl_eval.version import RELEASE

from tests.docs.commands import COMMANDS
from tests.docs.markdown import ROOT, blocks, headings, links, read_page
from tests.docs.readme_outputs import FIGURES, outputs, tables

FOLDERS = (".github", "pipeline", "jobs", "infra", "tests")
README = read_page("README.md")
GUIDE = "infra/site/pages/guide"
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (*ROOT.glob("*.md"), *(each for name in FOLDERS for each in (ROOT / name).rglob("*.md")))
)
"""Every page of the repository, by its path."""

SESSIONS = [page for page in PAGES if page != "CONTRIBUTING.md" and "\n```pycon\n" in read_page(page)]
"""Pages with a session in Python; ``test_contributing`` runs the ones of CONTRIBUTING.md."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    return outputs(tmp_path_factory.mktemp("readme"))


def masked(text: str) -> str:
    """Without what differs from run to run and from installation to installation: times and versions."""
    text = re.sub(r"[\d,]+ pairs/s in [\d.]+ s", "… pairs/s in … s", text)
    text = re.sub(r"(?<=code:)\w+", "…", text)
    text = re.sub(r"^kernel .*\n", "", text, flags=re.MULTILINE)  # there where it was built
    return re.sub(r"([a-z-]+):\d+(\.\d+)+(\+[\w.]+)?", r"\1:…", text)


def drawn_words(svg: str) -> list[str]:
    """Every text of a drawing, its title and description too; places may differ with the library that lays out."""
    shown = (element for element in ElementTree.fromstring(svg).iter() if not element.tag.endswith("style"))
    return sorted(element.text for element in shown if (element.text or "").strip())


def table_below(heading: str, page: str) -> str:
    """The lines of the section that are rows of a table."""
    section = read_page(page).split(f"# {heading}\n", 1)[1].split("\n## ", 1)[0]
    return "\n".join(line for line in section.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("mark", ["score", "explain", "why", "signature"])
def test_the_output_shown_is_the_output_made(mark: str, made: tuple[dict[str, str], dict[str, str]]) -> None:
    (shown,) = (block.text for page in PAGES for block in blocks(read_page(page)) if block.mark == mark)
    assert masked(shown) == masked(made[0][mark]), "python -m tests.docs.readme_outputs writes the new one"


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_figure_shown_is_the_figure_made(name: str, made: tuple[dict[str, str], dict[str, str]]) -> None:
    assert FIGURES[name].relative_to(ROOT).as_posix() in links(README)
    shown = FIGURES[name].read_text(encoding="utf-8")
    assert drawn_words(shown) == drawn_words(made[1][name]), "python -m tests.docs.readme_outputs draws the new one"


@pytest.mark.parametrize("page", SESSIONS)
def test_the_session_in_python_runs(page: str) -> None:
    session = "\n".join(block.text for block in blocks(read_page(page)) if block.language == "pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, page, page, 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_first_two_commands_are_those_of_the_quick_start() -> None:
    first, second = [block for block in blocks(README) if block.language == "sh"][:2]
    assert first.heading == second.heading == "Quick start"
    assert "score pipeline/pddl_eval/benchmark/sample.parquet" in first.text
    assert second.text.splitlines()[-1] == ".venv/bin/pytest"


def test_every_command_is_in_the_table() -> None:
    for page in ("README.md", "infra/site/pages/commands/index.md"):
        assert set(re.findall(r"`pddl-eval ([a-z]+)", table_below("Commands", page))) == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_the_options_that_are_named(page: str) -> None:
    for call in re.findall(r"`pddl-eval ([a-z]+ [^`]*)`", read_page(page)):
        words = call.split()
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= COMMANDS[words[0]].options, call


@pytest.mark.parametrize("page", ["README.md", f"{GUIDE}/inputs.md", f"{GUIDE}/logs.md"])
def test_the_commands_shown_are_understood(page: str) -> None:
    for block in blocks(read_page(page)):
        for line in block.text.splitlines() if block.language == "sh" else ():
            if call := re.search(r"pddl-eval ((?:score|report) [^#]*)", line):
                name, *arguments = call[1].split()
                COMMANDS[name].parse(arguments)


def test_every_input_column_and_every_known_domain_is_named() -> None:
    named = re.findall(r"`([a-z_-]+)`", table_below("Input columns", f"{GUIDE}/columns.md"))
    assert set(named) == {*MEANINGS, *known_domain_names()}


def test_the_columns_of_the_readme_exist() -> None:
    named = re.findall(r"`([a-z_0-9]+)`", "\n".join(re.findall(r"^\|([^|]+)\|", README, re.MULTILINE)))
    scores = {column.name for pair in PAIRS for column in pair.columns}
    assert set(named) <= {*MEANINGS, *scores}
    assert len(README.split()) <= 2000


@pytest.mark.parametrize("mark", tables())
def test_the_tables_are_the_programs(mark: str) -> None:
    (page,) = (page for page in map(read_page, PAGES) if f"<!-- {mark} -->" in page)
    assert f"<!-- {mark} -->\n\n{tables()[mark]}\n" in f"{page}\n", "python -m tests.docs.readme_outputs writes it"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in links(read_page(page)):
        # The build of the site makes the others.
        if not target.startswith(("https://", "gallery/", "assets/playground/")):
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


def test_changelog_and_citation_name_the_release() -> None:
    assert f"\n## {RELEASE}\n" in read_page("CHANGELOG.md")
    assert f"\nversion: {RELEASE}\n" in read_page("CITATION.cff")
