"""Scenarios from Python: what is wrong is told with its place, what is right survives a journey."""

from __future__ import annotations

import pickle
import tomllib
from typing import TYPE_CHECKING

import pytest

import slantpath
from slantpath import Scenario, ScenarioError, _native
from slantpath.studies.multi_link import cases
from slantpath.studies.multi_link.findings import PAPER, SCENARIO
from slantpath.studies.multi_link.runs import DURATION_S

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
[scenario]
name = "small"
duration = "2 s"

[nodes.a]
kind = "host"

[nodes.b]
kind = "host"

[links.wire]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"

[flows.data]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "constant-rate", message_size = "100 B", interval = "10 ms" }
"""


def test_a_broken_scenario_names_file_line_fault_and_cure() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(SMALL.replace("10 ms", "-10 ms").replace("rate =", "rat ="), "bad.toml")
    error = caught.value
    assert error.file == "bad.toml"
    assert error.line == SMALL.splitlines().index('rate = "1 Mbit/s"') + 1
    assert "rat" in error.wrong
    assert error.right is not None
    assert "rate" in error.right
    assert len(error.faults) >= 2
    assert str(error).startswith(f"bad.toml:{error.line}:1: ")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.line == error.line


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"nowhere\.toml"):
        Scenario.load(tmp_path / "nowhere.toml")


def test_values_replace_others_and_are_checked() -> None:
    scenario = Scenario.parse(SMALL)
    other = scenario.with_values({"links.wire.loss": "2 %", "flows.data.streams": 4})
    merged = tomllib.loads(other.merged())
    assert merged["flows"]["data"]["streams"] == 4
    assert other != scenario
    assert other.hash != scenario.hash
    with pytest.raises(ScenarioError, match="120"):
        scenario.with_values({"links.wire.loss": "120 %"})
    table = {"kind": "bulk", "total": "1 MB"}
    bulk = tomllib.loads(scenario.with_values({"flows.data.application": table}).merged())
    assert bulk["flows"]["data"]["application"]["total"] == "1 MB"


def test_the_merged_scenario_is_the_same_scenario() -> None:
    scenario = Scenario.parse(SMALL)
    assert Scenario.parse(scenario.merged()) == scenario


def test_a_scenario_survives_pickling_with_its_changes() -> None:
    scenario = Scenario.parse(SMALL).with_values({"links.wire.loss": "2 %"})
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert hash(again) == hash(scenario)


def test_values_become_toml() -> None:
    value = {"text": 'a "b"\\\n', "list": [1, 2.5, True], "small": 1e-9, "table": {"a b": "ü"}}
    assert tomllib.loads(f"x = {_native.toml_text(value)}")["x"] == value
    with pytest.raises(TypeError, match="not NoneType"):
        _native.toml_text(None)


def test_the_study_knows_the_numbers_of_its_scenario() -> None:
    merged = tomllib.loads(cases.scenario().merged())
    assert merged["scenario"]["duration"] == f"{DURATION_S:.0f} s"
    satellite, backup = merged["links"]["satellite"], merged["links"]["terrestrial"]
    assert satellite["forward"]["delay"] == f"{SCENARIO.satellite_delay_s * 1e3:.0f} ms"
    assert satellite["forward"]["loss"] == satellite["reverse"]["loss"] == "0.01"
    assert backup["forward"]["delay"] == f"{SCENARIO.backup_delay_s * 1e3:.0f} ms"
    assert backup["forward"]["rate"] == f"{SCENARIO.backup_rate_bit_per_s / 1e3:.0f} kbit/s"
    application = merged["flows"]["data"]["application"]
    assert application["message_size"] == f"{SCENARIO.message_bits / 8e3:.0f} kB"
    assert application["rate"] == f"{SCENARIO.message_bits / SCENARIO.message_interval_s / 1e3:.0f} kbit/s"


def test_the_paper_s_formulas_give_the_paper_s_numbers() -> None:
    assert round(PAPER.tcp_bound_s() * 1e3) == 870
    assert PAPER.standard_bound_s() * 1e3 == pytest.approx(708, abs=0.6)
    assert PAPER.modified_bound_s() * 1e3 == pytest.approx(483, abs=0.6)


def test_the_package_has_a_version() -> None:
    assert slantpath.__version__.count(".") == 2
