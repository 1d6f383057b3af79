"""The scenarios and skies of the studies, which lie beside the studies' pages."""

from __future__ import annotations

from pathlib import Path

from slantpath import Scenario

_PACKAGE = Path(__file__).parent
_INSTALLED = _PACKAGE / "files"
FILES = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""What has a directory for each study: that of an installed package, or `studies/` of the checkout."""


def text_of(study: str, file: str) -> str:
    """Give the text of a file of a study."""
    return (FILES / study / file).read_text(encoding="utf-8")


def scenario_of(study: str) -> Scenario:
    """Give the scenario of a study that has one file."""
    file = "scenario.toml"
    return Scenario.parse(text_of(study, file), f"studies/{study}/{file}")
