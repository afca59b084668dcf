"""What a package index shows: the README without the repository beside it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from tests.docs.markdown import ROOT, blocks, links, read_page

BUILD = "import setuptools.build_meta; setuptools.build_meta.prepare_metadata_for_build_wheel('metadata')"
PROJECT = tomllib.loads(read_page("pyproject.toml"))["project"]


PLACES = {"0.3.0": "v0.3.0", "0.3.0+g8abb01a.d3f2a91c0d1": "8abb01a", "0.3.0+nogit.d3f2a91c0d1": "main"}
"""Where the links of a version lead: to its tag, to its commit, without history to the newest."""


@pytest.fixture(scope="module", params=PLACES)
def metadata(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The version and the long description that a build makes of an sdist of that version."""
    pytest.importorskip("setuptools", "77")
    source = tmp_path_factory.mktemp("source")
    (source / "metadata").mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "pipeline/pddl_eval/version.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    (source / "PKG-INFO").write_text(f"Metadata-Version: 2.4\nName: pddl-eval\nVersion: {request.param}\n")
    environment = {**os.environ, "PDDL_EVAL_BUILD_KERNEL": "off"}  # Nothing of the crate is here.
    subprocess.run([sys.executable, "-c", BUILD], cwd=source, env=environment, check=True, capture_output=True)
    (file,) = source.glob("metadata/*/METADATA")
    headers, _, description = file.read_text(encoding="utf-8").partition("\n\n")
    assert "Description-Content-Type: text/markdown" in headers and f"\nVersion: {request.param}\n" in headers
    return request.param, description


@pytest.fixture
def shown(metadata: tuple[str, str]) -> str:
    return metadata[1]


def test_no_link_is_relative(shown: str) -> None:
    assert len(links(shown)) == len(links(read_page("README.md")))
    assert not [target for target in links(shown) if not target.startswith("https://")]


def test_links_into_the_repository_have_the_version_and_a_target(metadata: tuple[str, str]) -> None:
    version, shown = metadata
    owner = PROJECT["urls"]["Homepage"].removeprefix("https://github.com/")
    place = rf"https://(?:github\.com/{owner}/blob|raw\.githubusercontent\.com/{owner})/{re.escape(PLACES[version])}/"
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
