"""The playground: its gallery natively, and in headless Chromium, from disk, the same verdicts as native Python."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tarfile import open as open_tar
from threading import Thread
from typing import Any
from zlib import decompress

import pyarrow.parquet as pq
import pytest

from infra.site import generate, in_browser, playground
from tests.support.running import ROOT

SCRIPTS = ROOT / "infra" / "site" / "static" / playground.PLACE
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def judged(row: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(in_browser.answer(json.dumps({"row": row})))
    return found


@pytest.mark.parametrize("example", playground.EXAMPLES, ids=lambda each: str(each["title"]))
def test_an_example_has_its_verdict_and_its_states(example: dict[str, Any]) -> None:
    found = judged(example["row"])
    assert found["verdict"] == example["verdict"]
    states = [json.loads(in_browser.answer(json.dumps({"step": each}))) for each in range(found["steps"])]
    assert all("<svg" in each["page"] for each in states)


def test_the_heading_has_another_id_than_the_form() -> None:
    """The site gives a heading the id of its words, and a script finds the first element of an id."""
    page = (ROOT / "infra/site/pages/playground.md").read_text(encoding="utf-8")
    assert page.startswith("# Playground {#the-playground}\n") and page.count('id="playground"') == 1


def test_a_text_that_is_too_long_is_refused() -> None:
    assert "error" in judged({"generated_plan": "(a)" * in_browser.MOST_CHARACTERS})


def linked_rows(place: str) -> list[dict[str, str]]:
    """The rows that a page opens in the playground."""
    text = playground.with_links(generate.made_pages()[place].text, "playground.html")
    packed = re.findall(r'<a class="try" href="playground\.html#row=([^"]+)">', text)
    return [json.loads(decompress(urlsafe_b64decode(f"{each}==="), wbits=-15)) for each in packed]


def test_an_explained_row_opens_in_the_playground() -> None:
    for place in ("guide/first-run.md", "gallery.md", "commands/explain.md"):
        (row,) = linked_rows(place)
        found = judged(row)
        assert (found["verdict"], row["is_placeholder"]) == ("goal_differs", "true")
        assert found["detail"] == "the goal does not imply (on b3 b2), which the reference asks for"


def test_examples_of_the_guide_open_in_the_playground() -> None:
    verdicts = {
        "guide/certificates.md": ["identical"] * 7,
        "guide/feedback.md": ["precondition"],
        "guide/questions.md": ["too_much"],
        "guide/rewards.md": ["identical", "goal_not_reached"],
        "guide/tasks.md": ["valid"],
    }
    for place, expected in verdicts.items():
        assert [judged(row)["verdict"] for row in linked_rows(place)] == expected, place


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the playground with its files, and with the script that each page of the site loads first."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(SCRIPTS, site / playground.PLACE)
    for place, script in playground.playground_files().items():
        (site / place).write_bytes(script)
    written = (ROOT / "infra/site/pages/playground.md").read_text(encoding="utf-8")
    shutil.copy(SCRIPTS.parent / "iframe-worker.js", site / "assets")
    head = "<!doctype html><meta charset=utf-8><script src=assets/iframe-worker.js></script>"
    (site / "playground.html").write_text(f"{head}<body>{written}", encoding="utf-8")
    return site


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason=".ci/more installs it")
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module", params=["disk", "host"])
def page(request: pytest.FixtureRequest, browser: Any, site: Path) -> Iterator[Any]:
    """The page once Python is ready, from disk and from a static host; ``requests`` are what it asked for."""
    with ExitStack() as closed:
        address = site.as_uri()
        if request.param == "host":
            handler = partial(SimpleHTTPRequestHandler, directory=str(site))
            server = closed.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
            Thread(target=server.serve_forever, daemon=True).start()
            closed.callback(server.shutdown)
            address = f"http://127.0.0.1:{server.server_port}"
        yield started(browser, address)


def started(browser: Any, address: str) -> Any:
    opened = browser.new_page()
    opened.requests, opened.warnings = [], []
    opened.on("request", lambda request: opened.requests.append(request.url))
    opened.on("console", lambda message: opened.warnings.append(message.text))
    opened.address = address
    opened.goto(f"{address}/playground.html")
    opened.wait_for_selector("#playground[data-ready=yes]", timeout=120_000)
    return opened


def ask(page: Any, call: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("call => playground.ask(call)", call)
    return found


def assert_as_here(page: Any, row: dict[str, str]) -> None:
    here, there = judged(row), ask(page, {"row": row})
    for name in ("verdict", "detail", "feedback", "certificate", "steps"):
        assert here[name] == there[name], row


@pytest.mark.slow
def test_the_sample_has_the_verdicts_of_native_python(page: Any) -> None:
    sample = pq.read_table(ROOT / "pipeline/pddl_eval/benchmark/sample.parquet").to_pylist()
    for row in sample[:: 2 if page.address.startswith("file:") else 40]:
        assert_as_here(page, {name: row[name] or "" for name in ("reference_problem", "generated_problem")})
        assert_as_here(page, {"reference_problem": row["reference_problem"], "generated_plan": "(pickup a)"})


@pytest.mark.slow
def test_python_begins_with_the_memory_of_the_build(page: Any) -> None:
    assert not [each for each in page.warnings if "snapshot" in each]


@pytest.mark.slow
def test_without_that_memory_python_is_started(browser: Any, site: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(site, tmp_path / "site")
    program = copy / playground.PLACE / "program.js"
    lines = program.read_text("utf-16").split("\n")  # A file's characters may be others at which Python splits lines.
    kept = "\n".join(line for line in lines if not line.startswith('playground.file("snapshot.bin"'))
    program.write_text(kept, "utf-16")
    page = started(browser, copy.as_uri())
    assert_as_here(page, playground.EXAMPLES[0]["row"])


@pytest.mark.slow
def test_a_hostile_text_runs_no_script(page: Any) -> None:
    page.evaluate("window.harmed = false")
    hostile = "<img src=x onerror='top.harmed=true'><script>top.harmed=true</script>"
    page.select_option("[data-is=kind]", "problem")
    reference = f"(define (problem {hostile}) (:domain blocksworld) (:objects a) (:init (p a)) (:goal (a)))"
    page.fill("textarea[name=reference_problem]", reference)
    page.fill("textarea[name=generated_problem]", f"{hostile} (define (problem p) (:domain {hostile}")
    page.click("[data-is=judge]")
    page.wait_for_selector("[data-is=judge]:not([disabled])")
    page.wait_for_timeout(500)
    assert page.evaluate("window.harmed") is False


@pytest.mark.slow
def test_a_link_holds_the_texts(page: Any) -> None:
    page.select_option("[data-is=gallery]", "6")
    page.wait_for_selector("#playground[data-verdict=precondition]")
    page.click("[data-is=copy]")
    page.wait_for_function("location.hash.startsWith('#row=')")
    link = page.url
    page.select_option("[data-is=gallery]", "5")
    page.wait_for_selector("#playground[data-verdict=valid]")
    page.evaluate("location.hash = ''")  # The same fragment again is no change.
    page.evaluate("link => (location.hash = new URL(link).hash)", link)
    page.wait_for_selector("#playground[data-verdict=precondition]")


@pytest.mark.slow
def test_a_dropped_file_fills_its_field_and_the_keyboard_judges(page: Any) -> None:
    page.select_option("[data-is=kind]", "problem")
    page.fill("textarea[name=reference_problem]", playground.PAIR)
    data = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'a.pddl')); return data; }",
        playground.PAIR.replace("(:goal (and (on a b)))", "(:goal (and (on b a)))"),
    )
    page.dispatch_event("textarea[name=generated_problem]", "drop", {"dataTransfer": data})
    page.wait_for_function("document.querySelector('[name=generated_problem]').value.includes('(on b a)')")
    page.press("textarea[name=generated_problem]", "Control+Enter")
    page.wait_for_selector("#playground[data-verdict=isomorphic]")


@pytest.mark.slow
def test_axe_finds_nothing_that_a_screen_reader_misses(page: Any, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    subprocess.run(["npm", "pack", "--silent", "axe-core@4.14.1"], cwd=tmp_path, check=True, capture_output=True)
    with open_tar(next(tmp_path.glob("*.tgz"))) as package:
        script = package.extractfile("package/axe.min.js")
        assert script is not None
        page.evaluate(script.read().decode())
    page.select_option("[data-is=gallery]", "0")
    page.wait_for_selector("#playground[data-verdict=goal_differs]")
    found = page.evaluate("axe.run('#playground', { iframes: false })")
    assert [each["id"] for each in found["violations"]] == []
    assert {"label", "button-name", "select-name"} <= {each["id"] for each in found["passes"]}


@pytest.mark.slow
def test_a_placeholder_is_judged_as_one(page: Any) -> None:
    two = playground.PAIR.replace("(and (on a b))", "(and (on a b) (on-table b))")
    row = {"reference_problem": playground.PAIR, "generated_problem": two.replace("(on a b)", "(on b a)")}
    assert_as_here(page, {**row, "is_placeholder": "true"})
    page.evaluate("row => playground.ask({ row })", row)
    page.select_option("[data-is=kind]", "problem")
    assert page.is_visible("[name=is_placeholder]")
    page.select_option("[data-is=kind]", "plan")
    assert page.is_hidden("[name=is_placeholder]")


@pytest.mark.slow
def test_a_judgement_can_be_stopped_and_the_next_one_is_made(page: Any) -> None:
    page.evaluate("for (const each of ['judge', 'stop']) document.querySelector(`[data-is=${each}]`).click()")
    page.wait_for_selector("[data-is=judge]:not([disabled])", timeout=5_000)
    assert "Stopped" in page.inner_text("[role=status]")
    page.select_option("[data-is=gallery]", "1")
    page.wait_for_selector("#playground[data-verdict=isomorphic]", timeout=120_000)


@pytest.mark.slow
def test_nothing_but_its_own_files_is_asked_for(page: Any) -> None:
    asked = [each for each in page.requests if not each.startswith("blob:")]
    assert all(each.startswith(page.address) for each in asked)
    names = {each.rpartition("/")[2].partition("#")[0] for each in asked}
    icon = {"favicon.ico"}  # Browsers ask a host for it where a page names none.
    own = {"playground.html", "iframe-worker.js", "playground.css", "playground.js", "program.js", "runtime.js"}
    assert names - icon == own
