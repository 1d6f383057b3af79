"""The planner from Python."""

import warnings
from pathlib import Path

import pytest

import slantpath

GEO = {
    "path.round_trip": "650 ms",
    "band.permanent": "2048 kbit/s",
    "band.on_demand": "250 kbit/s",
    "band.allocation_time": "1.5 s",
    "signalling.erlang_per_link": 0.8,
    "signalling.step_erlang": 0.08,
    "signalling.octets": 270,
    "signalling.bundling_delay": "5 ms",
}


def test_values_alone_are_a_question() -> None:
    plan = slantpath.plan(values=GEO)
    rto_min = plan.settings["sctp.rto_min"]
    assert rto_min.least is not None
    assert rto_min.margin is not None
    assert plan["sctp.rto_min"] == rto_min.value > rto_min.least > 0.75
    assert rto_min.sensitivity["round trip"] > 0
    assert plan.impossible == ()
    loss = next(promise for promise in plan.promises if promise.name == "loss")
    assert (loss.standing, loss.most) == ("given", 0.001)


def test_a_text_and_a_file_say_the_same(tmp_path: Path) -> None:
    text = """
        path = { round_trip = "650 ms" }
        band = { permanent = "2048 kbit/s" }
        signalling = { erlang_per_link = 0.25, octets = 120 }
        limits = { failover = "800 ms" }
    """
    path = tmp_path / "plan.toml"
    path.write_text(text)
    plan = slantpath.plan(path)
    assert plan == slantpath.plan(text)
    (unmet,) = plan.impossible
    assert unmet.demand == "failover within 800 ms"
    assert "no setting helps" in unmet.why
    assert unmet.breaks == "limits.failover"


def test_the_scenario_of_an_answer_carries_its_load() -> None:
    plan = slantpath.plan(values=GEO)
    # Timers of MTP3 that one loss exceeds are warnings.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", slantpath.ScenarioWarning)
        output = slantpath.run(slantpath.Scenario.parse(plan.scenario))
    load = output["signalling_load"]
    assert sum(load["lost_messages"]) == 0  # type: ignore[arg-type]
    assert sum(load["sent_messages"]) > 50_000  # type: ignore[arg-type]


def test_what_cannot_be_asked_says_why() -> None:
    with pytest.raises(slantpath.ScenarioError, match="capacity on demand takes time"):
        slantpath.plan(values=GEO | {"band.allocation_time": "0 s"})
