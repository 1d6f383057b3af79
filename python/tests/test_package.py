"""What pip installs: the licences of others, and the commands beside the Rust program."""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from slantpath import command

ROOT = Path(__file__).parents[2]


def test_the_package_carries_the_licences_of_what_is_linked_in() -> None:
    package = distribution("slantpath")
    assert package.metadata.get_all("License-File") == ["LICENSE", "THIRD-PARTY-NOTICES.txt"]
    (notices,) = [file for file in package.files or [] if file.name == "THIRD-PARTY-NOTICES.txt"]
    text = notices.read_text()
    for crate, licence in (("arrow-array", "Apache-2.0 AND MIT"), ("is_ci", "ISC"), ("libm", "MIT")):
        assert any(
            line.startswith(f"{crate} ") and line.endswith(f": {licence}") for line in text.splitlines()
        )
    assert "\nThe Apache Software Foundation (http://www.apache.org/).\n" in text
    assert text == (ROOT / "THIRD-PARTY-NOTICES.txt").read_text()


@pytest.mark.parametrize("name", ["plot", "study"])
def test_python_s_own_commands_stand_beside_those_of_the_program(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["slantpath", name, "--help"])
    with pytest.raises(SystemExit) as caught:
        command.main()
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: slantpath {name} ")
