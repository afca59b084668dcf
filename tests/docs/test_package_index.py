"""What a package index shows: the README without the repository beside it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.docs.markdown import ROOT, blocks, links, read_page

BUILD = "import setuptools.build_meta; setuptools.build_meta.prepare_metadata_for_build_wheel('metadata')"
PROJECT = tomllib.loads(read_page("pyproject.toml"))["project"]


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The headers and the long description that a build makes, from a copy of what it reads."""
    pytest.importorskip("setuptools", "77")
    source = tmp_path_factory.mktemp("source")
    (source / "metadata").mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "pipeline/pddl_eval/__init__.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-c", BUILD], cwd=source, check=True, capture_output=True, timeout=60)
    (file,) = source.glob("metadata/*/METADATA")
    headers, _, description = file.read_text(encoding="utf-8").partition("\n\n")
    assert "Description-Content-Type: text/markdown" in headers
    return headers, description


@pytest.fixture
def shown(metadata: tuple[str, str]) -> str:
    return metadata[1]


def test_no_link_is_relative(shown: str) -> None:
    assert len(links(shown)) == len(links(read_page("README.md")))
    assert not [target for target in links(shown) if not target.startswith("https://")]


def test_links_into_the_repository_have_the_version_and_a_target(metadata: tuple[str, str]) -> None:
    headers, shown = metadata
    version = re.findall(r"^Version: (.+)$", headers, re.MULTILINE)[0]
    owner = PROJECT["urls"]["Homepage"].removeprefix("https://github.com/")
    place = rf"https://(?:github\.com/{owner}/blob|raw\.githubusercontent\.com/{owner})/v{re.escape(version)}/"
    inside = [re.sub(place, "", target) for target in links(shown) if re.match(place, target)]
    assert {each for each in links(read_page("README.md")) if not each.startswith("https://")} == set(inside)
    for target in inside:
        assert (ROOT / target.partition("#")[0]).exists(), target


def test_images_are_files_and_not_pages_about_them(shown: str) -> None:
    images = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", shown)
    assert images
    assert all(image.startswith("https://raw.githubusercontent.com/") for image in images)


def test_code_is_as_in_the_readme(shown: str) -> None:
    assert [block.text for block in blocks(shown)] == [block.text for block in blocks(read_page("README.md"))]
