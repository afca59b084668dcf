"""The pages of the documentation site: files of the repository, and what docstrings and the commands' help say.

mkdocs calls the functions ``on_…`` while it builds (``mkdocs.yml``). The others need no mkdocs: a test asks them
whether every command, room and public name has its page.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from runpy import run_path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import pddl_eval
from pddl_eval.commands.cli import main
from pddl_eval.definition.metrics import PAIRS
from pddl_eval.definition.metrics.registry import Column, Pair
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.settings import ReadingOptions, RunOptions, setting_of
from pddl_eval.version import program_version

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "pipeline" / "pddl_eval"
PAGES = "infra/site/pages"
"""The written pages of the site, each at its place there."""

REPOSITORY = "https://github.com/pddl-eval/pddl-eval"

WHOLE = {
    "README.md": "project/readme.md",
    "infra/README.md": "deployment.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "tests/measure/README.md": "project/measurements.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Pages of the repository that are pages of the site."""

FIRST = [
    *("commands/index.md", "python/index.md"),
    *(
        f"tutorials/{name}.md"
        for name in ("paper", "own-benchmark", "own-domain", "validation", "questions", "nightly", "reward", "review")
    ),
    *(
        f"guide/{name}.md"
        for name in ("first-run", "inputs", "logs", "columns", "names", "verdicts", "language", "pairs", "metrics")
    ),
    *("guide/settings.md", "guide/runs.md"),
    *(
        f"guide/{name}.md"
        for name in (
            "questions",
            "tasks",
            "reports",
            "publishing-results",
            "verifying",
            "feedback",
            "rewards",
            "integrations",
            "limits",
        )
    ),
    *("guide/trust.md", "guide/speed.md"),
    *(f"guide/published-{what}.md" for what in ("results", "problems", "questions")),
    "guide/certificates.md",
]
"""Pages that lead the list of their folder, in this order; the others follow."""

ALONE = ("index.md", "gallery.md", "playground.md", "deployment.md")
"""Pages with nothing beside them, which need no list of it."""

IMAGES = ("tests/docs/report.svg", "tests/docs/explain.svg")


@dataclass(frozen=True, slots=True)
class Page:
    """A page in Markdown. Its links are those of ``source``, a file of the repository, or of the page itself."""

    text: str
    source: str | None = None

    @property
    def title(self) -> str:
        """The first heading, without what it says in brackets or code."""
        heading = next(line for line in self.text.splitlines() if line.startswith("# "))
        return re.sub(r"`|\{.*\}", "", heading.removeprefix("# ")).strip()


@cache
def made_pages() -> dict[str, Page]:
    """Every page of the site by its place there."""
    return {
        **{place: Page(read(source), source) for source, place in WHOLE.items()},
        **_written_pages(),
        "guide/metrics.md": Page(_metrics_page()),
        "guide/settings.md": Page(_settings_page()),
        **{f"commands/{name}.md": Page(_command_page(name)) for name in commands()},
        "commands/jobs.md": Page(_jobs_page()),
        **{f"python/rooms/{room}.md": Page(_room_page(room, meaning)) for room, meaning in rooms().items()},
    }


def navigation() -> list[dict[str, Any]]:
    """The titles and places of all pages, as ``nav`` of ``mkdocs.yml`` would have them."""
    pages = made_pages()

    def below(folder: str) -> list[Any]:
        inside = [place for place in pages if posixpath.dirname(place) == folder]
        inside.sort(key=lambda place: FIRST.index(place) if place in FIRST else len(FIRST))
        return [place if place.endswith("/index.md") else {pages[place].title: place} for place in inside]

    return [
        {"Start": "index.md"},
        {"Tutorials": below("tutorials")},
        {"Gallery": "gallery.md"},
        {"Playground": "playground.md"},
        {"Guide": below("guide")},
        {"Commands": below("commands")},
        {"Python": [*below("python"), {"Modules": below("python/rooms")}]},
        {"Deployment": "deployment.md"},
        {"Project": below("project")},
    ]


def read(source: str) -> str:
    """A file of the repository."""
    return (ROOT / source).read_text(encoding="utf-8")


def _written_pages() -> dict[str, Page]:
    """The files of ``pages/``; commands are linked to their pages, and public names follow the session in Python."""
    pages = {}
    for path in sorted((ROOT / PAGES).rglob("*.md")):
        source = path.relative_to(ROOT).as_posix()
        place, text = source.removeprefix(f"{PAGES}/"), read(source)
        if place == "commands/index.md":
            text = re.sub(r"^\| (`pddl-eval ([a-z]+)[^`]*`)", r"| [\1](\2.md)", text, flags=re.MULTILINE)
        elif place == "python/index.md":
            text += _public_names()
        pages[place] = Page(text, source)
    return pages


# Commands


def commands() -> dict[str, Any]:
    """The commands by name, as click has them."""
    return dict(main.commands)


def _command_page(name: str) -> str:
    return f"# `pddl-eval {name}`\n\n{_described(commands()[name], f'pddl-eval {name}', '##')}"


def _jobs_page() -> str:
    parts = ["# Jobs\n\nWhat a scheduler starts: files of `jobs/`, which take the same arguments as commands.\n"]
    for path in sorted((ROOT / "jobs").glob("*.py")):
        module = run_path(str(path))
        parts.append(f"## `jobs/{path.name}`\n\n{_prose(module['__doc__'])}")
        parts.append(_described(module[path.stem], f"python jobs/{path.name}", "###"))
    return "\n".join(parts)


def _described(command: Any, words: str, level: str) -> str:
    """The help of a command: what it does, examples, arguments and options, subcommands, exit codes."""
    context = command.make_context(words, [], resilient_parsing=True)
    records = [
        (each.param_type_name, (_argument(each), each.meaning))
        if each.param_type_name == "argument"
        else ("option", each.get_help_record(context))
        for each in command.get_params(context)
    ]
    usage = " ".join([words, *(_argument(each) for each in command.params if each.param_type_name == "argument")])
    parts = [f"```text\n{usage}{' COMMAND …' if hasattr(command, 'commands') else ' [OPTIONS]'}\n```\n"]
    parts.append(_prose(inspect.cleandoc(command.help or "")))
    for kind, heading in (("argument", "Arguments"), ("option", "Options")):
        listed = [record for of_kind, record in records if of_kind == kind and record]
        if listed:
            parts.append(f"{level} {heading}\n" if level == "##" else f"**{heading}**\n")
            parts += [f"`{names}`\n:   {_escaped(meaning) or '–'}\n" for names, meaning in listed]
    for name, below in getattr(command, "commands", {}).items():
        parts.append(f"{level} `{words} {name}`\n\n{_described(below, f'{words} {name}', level + '#')}")
    if level == "##":
        parts.append(_escaped(command.epilog or ""))
    return "\n".join(parts) + "\n"


def _argument(argument: Any) -> str:
    """An argument as a call shows it."""
    return str(argument.metavar)


def _prose(help: str) -> str:
    """Help or a docstring as Markdown: calls, indented or after click's mark for lines as they are, become code."""
    found = []
    for paragraph in help.split("\n\n"):
        lines = paragraph.removeprefix("\b\n")
        calls = [line.strip() for line in lines.splitlines()]
        if lines != paragraph or all(line.startswith(("python ", "ray ", "pddl-eval ")) for line in calls):
            found.append("```sh\n" + "\n".join(calls) + "\n```")
        else:
            found.append(_escaped(" ".join(calls)))
    return "\n\n".join(found) + "\n"


def _escaped(text: str) -> str:
    """Help as Markdown shows it: no character of it is markup but double backticks."""
    return re.sub(r"([\\*_<>\[\]|#])(?![^`]*``)", r"\\\1", text)


# Metrics and settings


def _metrics_page() -> str:
    parts = [
        "# Metrics\n\nWhat each metric is, from its own file: the columns that it fills, definition, source, example.\n"
    ]
    for pair in PAIRS:
        parts.append(f"## Pairs of {pair.name}s\n")
        for module, columns in _modules_of(pair).items():
            name = module.rpartition(".")[2].replace("_", " ")
            rows = "\n".join(f"| `{each.name}` | {each.type.__name__} | {each.meaning} |" for each in columns)
            parts.append(f"### {name.capitalize()}\n\n| column | type | meaning |\n|---|---|---|\n{rows}\n")
            parts.append(_reference(module, 4, root_heading=False, members=_defined(module)))
    return "\n".join(parts)


def _modules_of(pair: Pair) -> dict[str, list[Column]]:
    """The modules of a pair's metrics with the columns that they fill."""
    found: dict[str, list[Column]] = {}
    for metric in pair.metrics:  # A metric that no function of ours computes is one that reading the pair computes.
        ours = metric.score.__module__.startswith("pddl_eval.")
        found.setdefault((metric.score if ours else pair.read).__module__, []).extend(metric.columns)
    return found


def _settings_page() -> str:
    parts = [
        "# Settings\n\nA setting is a keyword of `score_dataset` and an entry of a file for `--config`; most are flags "
        "of `pddl-eval score`. What has a name in the signature can change a score: scores with different signatures "
        "are not compared silently.\n"
    ]
    groups = {
        "What is read": ReadingOptions,
        "How it is scored": ScoringOptions,
        "Where and how a run works": RunOptions,
    }
    for heading, options in groups.items():
        parts.append(
            f"## {heading}\n\n| keyword | flag | default | meaning | in the signature |\n|---|---|---|---|---|"
        )
        for each in fields(options):
            known = setting_of(each)
            default = None if each.default in (None, MISSING) else f"`{each.default}`"
            meaning = known.help + (f" One of: {', '.join(known.choices)}." if known.choices else "")
            signed = f"`{known.signed}`" if known.signed else ""
            flag = f"`{known.flag.partition('/')[0]}`" if known.flag else ""
            parts.append(f"| `{each.name}` | {flag} | {default or ''} | {_escaped(meaning)} | {signed} |")
        parts.append("")
    return "\n".join(parts)


# Python


def rooms() -> dict[str, str]:
    """The rooms with public names and what they are for, from the table in CONTRIBUTING.md."""
    table = re.findall(r"^\| `(\w+)` \| (.+) \|$", read("CONTRIBUTING.md").partition("<!-- rooms -->")[2], re.MULTILINE)
    found = {room: meaning for room, meaning in table if _exported(room)}
    for room in dict(table).keys() - found.keys() - {"commands"}:  # Its files are what others import.
        for file in sorted((LIBRARY / room).glob("[a-z]*")):
            name = f"{room}.{file.stem}"
            found[name] = str(import_module(f"pddl_eval.{name}").__doc__).partition("\n")[0].rstrip(".")
    return found


@cache
def _exported(room: str) -> tuple[str, ...]:
    """The public names of a room: its ``__all__``, else what it defines, and imports of its files, without ``_``."""
    folder = LIBRARY / room.replace(".", "/")
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    found: list[str] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"pddl_eval.{room}."):
            found += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    chosen = getattr(import_module(f"pddl_eval.{room}"), "__all__", found)
    return tuple(name for name in chosen if not name.startswith("_"))


def _room_page(room: str, meaning: str) -> str:
    """The reference of a room's public names but those that another page has."""
    module = import_module(f"pddl_eval.{room}")
    paths = [_path_of(module, name) for name in _exported(room)]
    elsewhere = [path for path in paths if path in _paths_elsewhere()]
    parts = [f"# `{room}`\n\nThe room `pddl_eval.{room}`: {meaning}. {_ROOMS}\n"]
    if elsewhere:
        named = [f"[`{path.rpartition('.')[2]}`][{path}]" for path in elsewhere]
        parts.append(f"On other pages: {', '.join(named)}.\n")
    parts.append(_reference(module.__name__, 2, root_heading=False, members=[]))
    return "\n".join([*parts, *(_reference(path, 2) for path in paths if path not in elsewhere)])


_ROOMS = "How the rooms depend on each other: [Contributing](../../project/contributing.md#the-rooms)."


@cache
def _paths_elsewhere() -> frozenset[str]:
    """The names that the pages of public names and of metrics have."""
    metrics = {f"{module}.{name}" for pair in PAIRS for module in _modules_of(pair) for name in _defined(module)}
    return frozenset(metrics.union(_path_of(pddl_eval, name) for name in pddl_eval.__all__))


def _public_names() -> str:
    """The reference of the public names, functions before classes, as a section of a page."""
    classes = [name for name in pddl_eval.__all__ if inspect.isclass(getattr(pddl_eval, name))]
    functions = [name for name in pddl_eval.__all__ if name not in classes]
    return "\n## Reference\n\n" + "\n".join(_reference(_path_of(pddl_eval, name), 3) for name in (*functions, *classes))


def _path_of(module: Any, name: str) -> str:
    """Where a public name of a folder is defined: a function can be called as its module."""
    value = getattr(module, name)
    defined = inspect.isclass(value) or inspect.isroutine(value)
    return f"{value.__module__ if defined else module.__name__}.{name}"


def _defined(module: str) -> list[str]:
    """The functions and classes of a module of metrics but those that are public names of the package."""
    found = vars(import_module(module)).items()
    own = [name for name, value in found if getattr(value, "__module__", "") == module and not name.startswith("_")]
    return [name for name in own if name not in pddl_eval.__all__]


def _reference(path: str, level: int, *, root_heading: bool = True, members: list[str] | None = None) -> str:
    """The docstrings of a name, which mkdocstrings puts in this place."""
    options = {"heading_level": level} | ({} if members is None else {"members": members})
    if not root_heading:
        options |= {"show_root_heading": False, "show_root_toc_entry": False}
    return f"::: {path}\n    options: {json.dumps(options)}\n"


# Links


def _linked(text: str, target_of: Callable[[str], str]) -> str:
    """Markdown with every target of a link or image replaced; code is left as it is."""
    pattern = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\((?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE)
    return pattern.sub(lambda found: found[0] if found["target"] is None else f"]({target_of(found['target'])})", text)


def site_link(target: str, page: str) -> str:
    """Where a link of a page leads on the site: to another page, to a copied image, else into the repository."""
    source = made_pages()[page].source or f"{PAGES}/{page}"
    if urlsplit(target).scheme:
        return target
    path, _, anchor = target.partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
    places = {**WHOLE, **{image: f"assets/{posixpath.basename(image)}" for image in IMAGES}}
    if file.startswith(f"{PAGES}/") and file.endswith(".md"):
        place = file.removeprefix(f"{PAGES}/")
    elif file in places:
        place = places[file]
    elif (ROOT / file).exists():
        return f"{REPOSITORY}/blob/main/{file}" + (f"#{anchor}" if anchor else "")
    else:
        return target  # The build says that it leads nowhere.
    relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return relative + (f"#{anchor}" if anchor else "")


# What mkdocs calls


def on_config(config: Any) -> Any:
    """Set the navigation and the version, and read the library's files again when they change.

    mike, which keeps the sites of several versions beside each other, names the one that it builds.
    """
    config.nav = navigation()
    config.copyright = f"pddl-eval {program_version()}, {config.copyright}"
    if "MIKE_DOCS_VERSION" in os.environ:
        config.extra["version"] = {"provider": "mike"}
    config.watch += [str(ROOT / name) for name in (*WHOLE, PAGES, "pipeline/pddl_eval")]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, their images and the gallery."""
    from mkdocs.structure.files import File  # only a build needs it

    for place, page in made_pages().items():
        files.append(File.generated(config, place, content=page.text))
    for image in IMAGES:
        place = f"assets/{posixpath.basename(image)}"
        files.append(File.generated(config, place, abs_src_path=str(ROOT / image)))
    with TemporaryDirectory() as folder:
        run_path(str(Path(__file__).with_name("gallery.py")))["write_gallery"](Path(folder))
        for path in sorted(path for path in Path(folder, "gallery").rglob("*.*") if path.is_file()):
            files.append(File.generated(config, path.relative_to(folder).as_posix(), content=path.read_bytes()))
    try:
        scripts = run_path(str(Path(__file__).with_name("playground.py")))["playground_files"]()
    except (OSError, subprocess.SubprocessError) as error:  # The rest of the site needs no npm.
        print(f"the playground is not in this build: {error}", file=sys.stderr)
        return files
    for place, script in scripts.items():
        files.append(File.generated(config, place, content=script))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links within the repository into links within the site; no list of pages beside a single one."""
    place = page.file.src_uri
    if place in ALONE:
        page.meta["hide"] = ["navigation", "toc"] if place == "playground.md" else ["navigation"]
    playground = posixpath.relpath("playground.html", posixpath.dirname(place) or ".")
    markdown = run_path(str(Path(__file__).with_name("playground.py")))["with_links"](markdown, playground)
    return _linked(markdown, lambda target: site_link(target, place))


def on_post_build(config: Any) -> None:
    """Write the pages for agents; warn (``--strict``: fail) about dead links and files from other hosts."""
    from mkdocs.plugins import get_plugin_logger  # only a build needs it

    run_path(str(Path(__file__).with_name("for_agents.py")))["write_for_agents"](
        Path(config.site_dir), made_pages(), lambda text, place: _linked(text, lambda target: site_link(target, place))
    )
    for problem in link_problems(Path(config.site_dir)):
        get_plugin_logger("links").warning(problem)


class _Links(HTMLParser):
    """The links of a page, its anchors, and the files that a browser loads with it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.anchors |= {known[name] or "" for name in ("id", "name") if name in known}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"] or "")
        elif (tag == "link" and known.get("rel") != "canonical" and known.get("href")) or known.get("src"):
            self.loaded.append(known.get("src") or known.get("href") or "")


def link_problems(site: Path) -> Iterator[str]:
    """Links of a built site that lead to no file or no anchor, and files from other hosts."""
    pages: dict[Path, _Links] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, page in pages.items():
        here = path.relative_to(site)
        for target in (*page.links, *page.loaded):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    yield f"{here} loads {target} from another host"
                continue
            # A server shows 404.html at any place, so its links begin at the root.
            base = site if parts.path.startswith("/") else path.parent
            file = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file():
                yield f"{here} links to {target}, which is no file"
            elif "=" in parts.fragment:
                continue  # It chooses rows of a table: rows.html#verdict=goal+differs.
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{here} links to {target}, which has no such anchor"
