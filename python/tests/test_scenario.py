"""Scenarios from Python: what is wrong is told with its place, what is right survives a journey."""

from __future__ import annotations

import pickle
import re
import tomllib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import slantpath
from slantpath import Scenario, ScenarioError, Table, Topology, _native

if TYPE_CHECKING:
    from collections.abc import Callable

QUAD = Path(__file__).parents[2] / "scenarios/ss7-quad.toml"

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


@pytest.mark.parametrize("kind", [Scenario, Topology])
def test_a_file_that_cannot_be_read_is_the_error_of_its_cause(
    kind: type[Scenario | Topology], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: .*nowhere\.toml") as caught:
        kind.load(tmp_path / "nowhere.toml")
    assert caught.value.filename == str(tmp_path / "nowhere.toml")
    with pytest.raises(IsADirectoryError):
        kind.load(tmp_path)


def test_a_table_that_cannot_be_written_is_the_error_of_its_cause(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError, match=r"t\.csv"):
        Table.of("t", [("a", "u64", [1])]).write(tmp_path / "file" / "t.csv")


def test_a_file_in_another_encoding_is_a_scenario_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes('[scenario]\nname = "caf\N{LATIN SMALL LETTER E WITH ACUTE}"\n'.encode("latin-1"))
    with pytest.raises(ScenarioError, match=r"latin\.toml:2:12: this is not UTF-8"):
        Scenario.load(path)


def test_values_replace_others_and_are_checked() -> None:
    scenario = Scenario.parse(SMALL)
    other = scenario.with_values({"links.wire.loss": "2 %", "flows.data.streams": 4})
    merged = tomllib.loads(other.merged())
    assert merged["flows"]["data"]["streams"] == 4
    assert other != scenario
    assert other.hash != scenario.hash
    with pytest.raises(ScenarioError, match="120"):
        scenario.with_values({"links.wire.loss": "120 %"})
    for value in ("120 %", "2 %\n"):
        with pytest.raises(ScenarioError) as caught:
            Scenario.parse(SMALL).with_values({"links.wire.loss": "1 %", "links.wire.delay": value})
        assert (caught.value.file, caught.value.line) == ("with_values", None)
        assert "--set" not in str(caught.value)
        assert str(caught.value).startswith("with_values: links.wire.delay=")
    shown = "links.wire.delay="
    for digits, quoted in ((181, f'{shown}"{"9" * 181}"'), (182, f'{shown}"{"9" * 182}…')):
        with pytest.raises(ScenarioError) as caught:
            scenario.with_values({"links.wire.delay": "9" * digits})
        assert str(caught.value).startswith(f"with_values: {quoted}: ")
    with pytest.raises(ScenarioError, match="`links=x` is no path"):
        scenario.with_values({"links=x": "1 %"})
    endless: list[object] = []
    endless.append(endless)
    table_in_itself: dict[str, object] = {}
    table_in_itself["x"] = table_in_itself
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    for bottomless in (endless, table_in_itself, deep):
        with pytest.raises(ValueError, match="at most 32 lists and dicts deep"):
            scenario.with_values({"flows.data.application": bottomless})
    table = {"kind": "bulk", "total": "1 MB"}
    bulk = tomllib.loads(scenario.with_values({"flows.data.application": table}).merged())
    assert bulk["flows"]["data"]["application"]["total"] == "1 MB"


def heard(make: Callable[[], Scenario]) -> tuple[Scenario, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return make(), caught


def test_what_is_probably_a_mistake_is_a_warning_at_the_line_that_called() -> None:
    text = QUAD.read_text()
    far = text.replace('delay = "8 ms"', 'delay = "20 ms"')
    scenario, caught = heard(lambda: Scenario.parse(far, "far.toml"))
    assert {warning.category for warning in caught} == {slantpath.ScenarioWarning}
    assert {warning.filename for warning in caught} == {__file__}
    assert [str(warning.message) for warning in caught] == [str(doubt) for doubt in scenario.warnings]
    line = text[: text.index('delay = "8 ms"')].count("\n") + 1
    assert (scenario.warnings[0].file, scenario.warnings[0].line) == ("far.toml", line)
    assert "basic error correction over a delay of 20 ms" in str(scenario.warnings[0])


def test_nobody_is_warned_twice() -> None:
    near = Scenario.load(QUAD)
    assert near.warnings == []
    far, caught = heard(lambda: near.with_values({"signalling.links.left-right.carrier.delay": "20 ms"}))
    assert [str(warning.message) for warning in caught] == [str(doubt) for doubt in far.warnings]
    assert "`left-right`: basic error correction" in str(far.warnings[0])
    # Neither by values that change nothing of it, nor after a journey.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far.with_values({"scenario.seed": 7})
        assert pickle.loads(pickle.dumps(far)) == far


def test_a_sweep_warns_at_the_line_that_asked_for_it() -> None:
    grid = {"signalling.links.left-right.carrier.delay": ["20 ms"]}
    with pytest.warns(slantpath.ScenarioWarning, match="basic error correction") as caught:
        slantpath.sweep(Scenario.load(QUAD), grid)
    assert {warning.filename for warning in caught} == {__file__}


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


def test_the_package_has_a_version() -> None:
    assert slantpath.__version__.count(".") == 2


SKY = """
[scenario]
name = "sky"
duration = "60 s"

[sky]
epoch = "2026-03-01T00:00:00Z"

[sky.constellations.iridium]
satellites = { kind = "preset", preset = "iridium" }

[sky.sites.london]
latitude = "51.5 deg"
longitude = "-0.1 deg"

[sky.sites.boston]
latitude = "42.3 deg"
longitude = "-71.1 deg"

[sky.access.all]
rate = "2 Mbit/s"

[sky.isls.all]
rate = "25 Mbit/s"

[nodes.a]
kind = "host"
site = "london"

[nodes.b]
kind = "host"
site = "boston"

[flows.data]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "constant-rate", message_size = "100 B", interval = "10 ms" }
"""


def test_who_asks_hears_how_far_the_contacts_of_a_sky_are(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []

    def progress(done: int, of: int) -> None:
        heard.append((done, of))

    whole = [(0, 2), (1, 2), (2, 2)]
    scenario = Scenario.parse(SKY, progress=progress)
    assert heard == whole
    heard.clear()
    path = tmp_path / "sky.toml"
    path.write_text(SKY, encoding="utf-8")
    assert Scenario.load(path, progress=progress) == scenario
    assert heard == whole
    heard.clear()
    # Other values of the same contacts work nothing out; a longer run does.
    scenario.with_values({"flows.data.streams": 2}, progress=progress)
    assert heard == []
    scenario.with_values({"scenario.duration": "90 s"}, progress=progress)
    assert heard == whole
    Scenario.parse(SMALL, progress=progress)
    assert heard == whole


def test_what_a_progress_function_raises_is_raised() -> None:
    def progress(done: int, of: int) -> None:
        message = f"{done} of {of}"
        raise LookupError(message)

    with pytest.raises(LookupError, match="0 of 2"):
        Scenario.parse(SKY, progress=progress)


def test_the_index_has_every_scenario_once() -> None:
    directory = QUAD.parent
    index = (directory / "README.md").read_text()
    listed = re.findall(r"^\| \[`([\w-]+)`\]\(\1\.toml\) \| \S", index, re.MULTILINE)
    assert sorted(listed) == sorted(file.stem for file in directory.glob("*.toml"))
