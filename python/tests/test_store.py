"""Finished runs on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_scenario import SMALL

from slantpath import Job, RunOutput, Scenario, Table
from slantpath.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def output(digest: str) -> RunOutput:
    return RunOutput(1, 0, digest, {"messages": Table.of("messages", [("delay_s", "f64", [0.25])])})


@pytest.fixture
def job() -> Job:
    return Job(Scenario.parse(SMALL), run=3)


def test_a_finished_run_is_found_and_only_under_its_own_key(tmp_path: Path, job: Job) -> None:
    store = Store(tmp_path, ["messages"])
    assert store.find("sctp/003", job) is None
    kept = store.keep("sctp/003", job, output("d"))
    found = store.find("sctp/003", job)
    assert found is not None
    assert found.digest == kept.digest == "d"
    assert found.tables["messages"].column("delay_s").to_pylist() == [0.25]
    assert store.find("sctp/003", Job(job.scenario, run=3, seed=7)) is None
    other = job.scenario.with_values({"links.wire.loss": "1 %"})
    assert store.find("sctp/003", Job(other, run=3)) is None


def test_a_table_that_a_run_has_not_is_no_reason_to_make_it_again(tmp_path: Path, job: Job) -> None:
    wider = Store(tmp_path, ["messages", "access"])
    assert list(wider.keep("sctp/003", job, output("d")).tables) == ["messages"]
    found = wider.find("sctp/003", job)
    assert found is not None
    assert list(found.tables) == ["messages"]
    assert Store(tmp_path, ["messages"]).find("sctp/003", job) is not None
    # A table that nobody asked for then may have been there: so may all be.
    assert Store(tmp_path, ["messages", "flows"]).find("sctp/003", job) is None
    assert Store(tmp_path, None).find("sctp/003", job) is None
    Store(tmp_path, None).keep("sctp/003", job, output("d"))
    assert Store(tmp_path, ["messages", "flows"]).find("sctp/003", job) is not None


def test_a_run_that_is_not_whole_is_not_found(tmp_path: Path, job: Job) -> None:
    store = Store(tmp_path, ["messages"])
    store.keep("sctp/003", job, output("d"))
    table = tmp_path / "sctp" / "003-messages.parquet"
    table.write_bytes(table.read_bytes()[:100])
    assert store.find("sctp/003", job) is None
    store.keep("sctp/003", job, output("d"))
    (tmp_path / "sctp" / "003.json").write_text("{")
    assert store.find("sctp/003", job) is None
