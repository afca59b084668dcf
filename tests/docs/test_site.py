"""The documentation site has a page for all there is; ``mkdocs build --strict`` in ``.ci/run`` checks the built one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pddl_eval
import pytest
from pddl_eval.definition.metrics import PAIRS
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.verdict import DomainVerdict, Judgement, PlanVerdict, Verdict
from pddl_eval.settings import ReadingOptions, RunOptions

from infra.site import generate
from tests.docs.commands import COMMANDS, Described
from tests.docs.markdown import ROOT, links
from tests.docs.test_contributing import ROOMS

made_pages = cache(generate.made_pages)


def references(place: str) -> set[str]:
    """The names whose docstrings a page shows."""
    return set(re.findall(r"^::: (\S+)$", made_pages()[place].text, re.MULTILINE))


def places(navigation: Any) -> Iterator[str]:
    """The pages of the navigation, in its order."""
    if isinstance(navigation, str):
        yield navigation
        return
    for each in navigation.values() if isinstance(navigation, dict) else navigation:
        yield from places(each)


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(places(generate.navigation())) == sorted(made_pages())


@pytest.mark.parametrize("name", pddl_eval.__all__)
def test_a_public_name_has_its_reference(name: str) -> None:
    (shown,) = [path for path in references("python/index.md") if path.endswith(f".{name}")]
    module, _, attribute = shown.rpartition(".")
    assert getattr(__import__(module, fromlist=[attribute]), attribute) is getattr(pddl_eval, name)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_has_a_page_with_its_subcommands_and_options(command: Described) -> None:
    page = made_pages()[f"commands/{command.words[0]}.md"].text
    for each in (command, *command.subcommands):
        assert f"`pddl-eval {' '.join(each.words)}`\n" in page
        assert {name for name in each.options if name.startswith("-")} <= set(re.findall(r"--?[a-z][a-z-]*", page))
        for call in each.examples:
            assert f"pddl-eval {' '.join(call)}\n" in page


def test_every_command_is_linked_from_the_table() -> None:
    targets = {Path(target).stem for target in links(made_pages()["commands/index.md"].text)}
    assert set(COMMANDS) <= targets


def test_every_room_with_public_names_has_a_page() -> None:
    rooms = {place.split("/")[-1].partition(".")[0] for place in made_pages() if place.startswith("python/rooms/")}
    assert rooms == {*ROOMS} - {"commands"}


def test_no_name_is_shown_on_two_pages() -> None:
    shown = [path for place in made_pages() for path in references(place) if path.count(".") != 1]
    assert len(shown) == len(set(shown))


def test_every_column_verdict_and_setting_is_on_its_page() -> None:
    for place, names in {
        "guide/metrics.md": {column.name for pair in PAIRS for column in pair.columns},
        "guide/verdicts.md": {each.value for kind in (Verdict, PlanVerdict, DomainVerdict) for each in kind},
        "guide/questions.md": {each.value for each in Judgement},
        "guide/settings.md": {
            each.name for kind in (ReadingOptions, ScoringOptions, RunOptions) for each in fields(kind)
        },
    }.items():
        assert names <= set(re.findall(r"^\| `(\w+)` \|", made_pages()[place].text, re.MULTILINE)), place


def test_the_places_of_all_pages_are_different() -> None:
    """A written page cannot hide behind a made one."""
    written = {path.relative_to(ROOT / generate.PAGES).as_posix() for path in (ROOT / generate.PAGES).rglob("*.md")}
    assert all(made_pages()[place].source == f"{generate.PAGES}/{place}" for place in written)
    assert all(made_pages()[place].source == source for source, place in generate.WHOLE.items())
    assert set(generate.FIRST) <= set(made_pages())


@pytest.mark.parametrize(
    ("page", "target", "leads"),
    [
        ("project/readme.md", "infra/README.md", "../deployment.md"),
        ("index.md", "../../../tests/docs/report.svg", "assets/report.svg"),
        (
            "project/readme.md",
            "pipeline/pddl_eval/definition/metrics",
            f"{generate.REPOSITORY}/blob/main/pipeline/pddl_eval/definition/metrics",
        ),
        ("project/readme.md", "infra/site/pages/guide/limits.md#exact-limits", "../guide/limits.md#exact-limits"),
        ("index.md", "../../README.md", "deployment.md"),
        ("guide/first-run.md", "../../../../tests/docs/explain.svg", "../assets/explain.svg"),
        ("guide/limits.md", "../../../../README.md#quick-start", "../project/readme.md#quick-start"),
        ("guide/limits.md", "../../../README.md", "../deployment.md"),
        ("guide/limits.md", "settings.md", "settings.md"),
        (
            "guide/reports.md",
            "intervals.json",
            f"{generate.REPOSITORY}/blob/main/infra/site/pages/guide/intervals.json",
        ),
        ("project/contributing.md", "#the-rooms", "contributing.md#the-rooms"),
        ("deployment.md", "../CONTRIBUTING.md#the-rooms", "project/contributing.md#the-rooms"),
        ("python/rooms/datasets.md", "../../project/changelog.md", "../../project/changelog.md"),
        ("project/readme.md", "https://example.org/a", "https://example.org/a"),
        ("project/readme.md", "infra/nowhere.md", "infra/nowhere.md"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(page: str, target: str, leads: str) -> None:
    assert generate.site_link(target, page) == leads


def test_links_of_a_built_site_are_checked(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text('<h1 id="top">a</h1><a href="sub/b.html#there">b</a><a href="gone.html">c</a>')
    (tmp_path / "sub" / "b.html").write_text(
        '<a href="../index.html#top">a</a><a href="#nowhere">b</a><script src="https://example.org/x.js"></script>'
    )
    assert [problem.split()[0:4:3] for problem in generate.link_problems(tmp_path)] == [
        ["index.html", "sub/b.html#there,"],
        ["index.html", "gone.html,"],
        ["sub/b.html", "#nowhere,"],
        ["sub/b.html", "from"],
    ]


def test_help_is_no_markup() -> None:
    for place, page in made_pages().items():
        if place.startswith("commands/"):
            assert "\b" not in page.text and not re.search(r"^:   .*(?<!\\)[*<]", page.text, re.MULTILINE), place


def test_the_site_asks_no_other_host() -> None:
    for path in (ROOT / "infra" / "site" / "static" / "assets").rglob("*.*"):
        assert "://" not in path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", ""), path.name


# --- Each public name exists and shows how it is used; doctests run with the tests


@pytest.mark.parametrize("name", pddl_eval.__all__)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(pddl_eval, name)) or "")


def test_public_names_are_completed_before_they_are_imported() -> None:
    assert set(pddl_eval.__all__) <= set(dir(pddl_eval))


def test_settings_are_shown_as_keywords() -> None:
    shown = inspect.signature(pddl_eval.score_dataset).parameters
    assert (shown["engine"].default, shown["beta"].default, shown["references"].default) == ("auto", 0.75, None)
    assert "engine" not in inspect.signature(pddl_eval.score_frame).parameters
