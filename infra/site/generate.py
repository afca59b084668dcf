"""Makes the pages of the documentation site from what is said elsewhere: the README, the commands' help, docstrings.

mkdocs calls the functions ``on_…`` while it builds (``mkdocs.yml``). The others need no mkdocs: a test asks them
whether every command, room and public name has its page.
"""

from __future__ import annotations

import ast
import inspect
import json
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import Any
from urllib.parse import unquote, urlsplit

import pddl_eval
from pddl_eval.commands.cli import app
from pddl_eval.commands.command import EXIT_CODES, application
from pddl_eval.metrics import PAIRS
from pddl_eval.metrics.registry import Column, Pair
from pddl_eval.options import RunOptions, ScoringOptions, setting_of
from typer.main import get_command

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = "infra/site/pages"
"""Files that go on where a section of the README stops."""

REPOSITORY = "https://github.com/pddl-eval/pddl-eval"

WHOLE = {
    "infra/README.md": "elsewhere.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
}
"""Pages of the repository that are pages of the site."""

FRONT = ("Quick start", "An example")
"""The sections of the README that are the first page; each other one is a page."""

PLACES = {"Commands": "commands/index.md", "In Python": "python/index.md"}
"""Sections of the README whose page is not in the guide."""

FIRST = (
    *PLACES.values(),
    *(f"guide/{name}.md" for name in ("inputs", "columns", "metrics", "verdicts", "settings")),
)
"""Pages that lead the list of their folder; the others follow as they are made."""

ALONE = ("index.md", "elsewhere.md")
"""Pages with nothing beside them, which need no list of it."""

LEFT_OUT = ("Contributing, citing, license",)

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
        **_readme_pages(),
        **{place: Page(read(source), source) for source, place in WHOLE.items()},
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
        {"Guide": below("guide")},
        {"Commands": below("commands")},
        {"Python": [*below("python"), {"The rooms": below("python/rooms")}]},
        {"Clusters and nights": "elsewhere.md"},
        {"Project": below("project")},
    ]


def read(source: str) -> str:
    """A file of the repository."""
    return (ROOT / source).read_text(encoding="utf-8")


def slug(heading: str) -> str:
    """A heading as the name of a page."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def split_sections(page: str) -> dict[str, str]:
    """What stands under each heading of the second level; under "" what stands before the first.

    >>> split_sections("# Title\\nText.\\n## One\\n```\\n## code\\n```\\n")
    {'': '# Title\\nText.\\n', 'One': '```\\n## code\\n```\\n'}
    """
    found: dict[str, str] = {"": ""}
    heading, fenced = "", False
    for line in page.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            heading = line.removeprefix("## ").strip()
            found[heading] = ""
        else:
            found[heading] += line
    return found


def _readme_pages() -> dict[str, Page]:
    sections = split_sections(read("README.md"))
    front = sections.pop("") + "".join(f"## {name}\n{sections.pop(name)}" for name in FRONT)
    pages = {"index.md": Page(front, "README.md")}
    for name, text in sections.items():
        if name not in LEFT_OUT:
            text = re.sub(r"^##(#+ )", r"#\1", text, flags=re.MULTILINE)  # Code has no lines that begin so.
            if name == "Commands":
                text = re.sub(
                    r"^\| (`pddl-eval ([a-z]+)[^`]*`)", rf"| [\1]({PAGES}/commands/\2.md)", text, flags=re.MULTILINE
                )
            elif name == "In Python":
                text += _public_names()
            place = _place_of(name)
            pages[place] = Page(f"# {name}\n{text}{_continued(place)}", "README.md")
    return pages


def _continued(place: str) -> str:
    """The sections of the file in ``pages/`` that goes on where the README stops."""
    file = f"{PAGES}/{place}"
    if not (ROOT / file).exists():
        return ""
    sections = split_sections(_linked(read(file), lambda target: _in_repository(target, file)))
    return "".join(f"\n## {heading}\n{text}" for heading, text in sections.items() if heading)


def _place_of(section: str) -> str:
    """The page of a section of the README."""
    return "index.md" if section in FRONT else PLACES.get(section, f"guide/{slug(section)}.md")


# Commands


def commands() -> dict[str, Any]:
    """The commands by name, as click has them."""
    return dict(get_command(app).commands)  # type: ignore[attr-defined]


def _command_page(name: str) -> str:
    return f"# `pddl-eval {name}`\n\n{_described(commands()[name], f'pddl-eval {name}', '##')}"


def _jobs_page() -> str:
    parts = ["# Jobs\n\nWhat a scheduler starts: files of `jobs/`, which take the same arguments as commands.\n"]
    for path in sorted((ROOT / "jobs").glob("*.py")):
        module = run_path(str(path))
        job = application()
        job.command(epilog=module.get("EXIT_CODES", EXIT_CODES))(module[path.stem])
        parts.append(f"## `jobs/{path.name}`\n\n{_prose(module['__doc__'])}")
        parts.append(_described(get_command(job), f"python jobs/{path.name}", "###"))
    return "\n".join(parts)


def _described(command: Any, words: str, level: str) -> str:
    """The help of a command: what it does, examples, arguments and options, subcommands, exit codes."""
    context = command.make_context(words, [], resilient_parsing=True)
    records = [
        (each.param_type_name, (_argument(each), each.help))
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
    name = f"{argument.metavar or argument.name.upper()}{'…' if argument.nargs == -1 else ''}"
    return name if argument.required else f"[{name}]"


def _prose(help: str) -> str:
    """Help or a docstring as Markdown: calls, indented or after typer's mark for lines as they are, become code."""
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
        "# Settings\n\nA setting is a keyword of `score_dataset` and `rescore_dataset` and a flag of `pddl-eval score` "
        "and `rescore`. What has a name in the signature can change a score: scores with different signatures are "
        "not compared silently.\n"
    ]
    for heading, options in (("What can change a score", ScoringOptions), ("Where and how a run works", RunOptions)):
        parts.append(f"## {heading}\n\n| keyword | default | meaning | in the signature |\n|---|---|---|---|")
        for each in fields(options):
            known = setting_of(each)
            default = None if each.default in (None, MISSING) else f"`{each.default}`"
            meaning = known.help + (f" One of: {', '.join(known.choices)}." if known.choices else "")
            signed = f"`{known.signed}`" if known.signed else ""
            parts.append(f"| `{each.name}` | {default or ''} | {_escaped(meaning)} | {signed} |")
        parts.append("")
    return "\n".join(parts)


# Python


def rooms() -> dict[str, str]:
    """The rooms with public names and what they are for, from the table in CONTRIBUTING.md."""
    table = re.findall(r"^\| `(\w+)` \| (.+) \|$", read("CONTRIBUTING.md").partition("<!-- rooms -->")[2], re.MULTILINE)
    return {room: meaning for room, meaning in table if _exported(room)}


@cache
def _exported(room: str) -> tuple[str, ...]:
    """The public names of a room: its ``__all__``, else what it defines without a leading underscore."""
    folder = ROOT / "pipeline" / "pddl_eval" / room
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    found: list[str] = []
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append(node.name)
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


_ROOMS = "How the rooms lie: [Contributing](../../project/contributing.md#the-rooms)."


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


def _in_repository(target: str, source: str) -> str:
    """A relative link of a file as one of the repository's root."""
    path, mark, anchor = target.partition("#")
    if urlsplit(target).scheme:
        return target
    return (posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source) + mark + anchor


def site_link(target: str, page: str) -> str:
    """Where a link of a page leads on the site: to another page of it, to a copied image, else into the repository."""
    source = made_pages()[page].source or f"{PAGES}/{page}"
    if urlsplit(target).scheme:
        return target
    file, _, anchor = _in_repository(target, source).partition("#")
    places = {**WHOLE, **{image: f"assets/{posixpath.basename(image)}" for image in IMAGES}}
    if file == "README.md":
        sections = {slug(name): name for name in split_sections(read("README.md"))}
        place = _place_of(sections.get(anchor, FRONT[0]))
        anchor = anchor if place == "index.md" else ""  # Elsewhere the section is the page.
    elif file.startswith(f"{PAGES}/"):
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
    """Set the navigation, and read the library's files again when they change."""
    config.nav = navigation()
    config.watch += [str(ROOT / "README.md"), str(ROOT / PAGES), str(ROOT / "pipeline" / "pddl_eval")]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made, and the README's images."""
    from mkdocs.structure.files import File  # only a build needs it

    for place, page in made_pages().items():
        files.append(File.generated(config, place, content=page.text))
    for image in IMAGES:
        place = f"assets/{posixpath.basename(image)}"
        files.append(File.generated(config, place, abs_src_path=str(ROOT / image)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links within the repository into links within the site; no list of pages where there is but one."""
    place = page.file.src_uri
    if place in ALONE:
        page.meta["hide"] = ["navigation"]
    return _linked(markdown, lambda target: site_link(target, place))


def on_post_build(config: Any) -> None:
    """Warn (``--strict``: fail) about links that lead nowhere and files that a browser would load from elsewhere."""
    from mkdocs.plugins import get_plugin_logger  # only a build needs it

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
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{here} links to {target}, which has no such anchor"
