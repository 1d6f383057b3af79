"""What pip installs of the studies."""

from __future__ import annotations

import tomllib
from pathlib import Path

import slantpath
import slantpath_studies
from slantpath_studies import texts

STUDIES = Path(__file__).parents[1]
PROJECT = tomllib.loads((STUDIES / "pyproject.toml").read_text())


def test_the_studies_go_with_the_library_of_their_version() -> None:
    assert slantpath_studies.__version__ == slantpath.__version__
    assert f"slantpath=={slantpath.__version__}" in PROJECT["project"]["dependencies"]


def test_the_package_carries_every_scenario_and_sky_of_the_studies() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    files = [file.relative_to(STUDIES).as_posix() for file in STUDIES.glob("*/*.toml")]
    assert included == {file: f"slantpath_studies/files/{file}" for file in files}
    assert texts.text_of("soip", "data.toml") == (STUDIES / "soip/data.toml").read_text(encoding="utf-8")


def test_the_licence_is_that_of_the_project() -> None:
    assert (STUDIES / "LICENSE").read_text() == (STUDIES.parent / "LICENSE").read_text()
