"""Views: what of a directory is embedded, what is thinned, and what is said of what is not there."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_report import by_hand

import slantpath
from slantpath.view import ViewError, command, view
from slantpath.view.events import Events
from slantpath.view.explained import take
from slantpath.view.thinning import Lines, shares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "python" / "view"
BUNDLE = ROOT / "python" / "slantpath" / "view" / "bundle"
NODE = shutil.which("node")
HOSTILE = "</script><script>hacked = 1</script><img src=x onerror=hacked=1>"


class Page(HTMLParser):
    """The data that a page holds."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.told: dict[str, Any] = {}
        self.blocks: dict[str, pa.Table] = {}
        self.tags: list[str] = []
        self._into = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        attributes = dict(attrs)
        self._into = attributes.get("data-block") or attributes.get("id") or ""

    def handle_data(self, data: str) -> None:
        if self._into == "told":
            self.told = json.loads(data)
        elif self._into and self.tags[-1] == "script":
            self.blocks[self._into] = pq.read_table(io.BytesIO(base64.b64decode(data)))
        self._into = ""

    def notes(self) -> str:
        return "\n".join(self.told["notes"])


def intervals(rows: int, flows: Sequence[str] = ("data",)) -> dict[str, Sequence[object]]:
    times = np.repeat(np.arange(rows, dtype=np.float64), len(flows))
    return {
        "run": np.zeros(len(times), dtype=np.uint64),  # type: ignore[dict-item]
        "flow": list(flows) * rows,
        "start_s": times,  # type: ignore[dict-item]
        "end_s": times + 1,  # type: ignore[dict-item]
        "messages_sent": [int(time) for time in times],
        "throughput_bit_per_s": [None if time == 3 else 1e3 * time for time in times],
    }


def topology(directory: Path, *, moving: bool = True, satellite: str = "sat-1") -> Path:
    """Write a sky by hand: two sites and a satellite that goes from the one to the other."""
    place = {"latitude_deg": [50.0, 40.0, 45.0], "longitude_deg": [0.0, -70.0, -30.0]}
    tables: dict[str, Mapping[str, Sequence[object]]] = {
        "map_nodes": {
            "node": ["london", "boston", satellite],
            "kind": ["site", "site", "satellite"],
            "constellation": [None, None, "one"],
            **place,
            "altitude_km": [0.0, 0.0, 780.0],
        },
        "map_journeys": {
            "site": ["boston", "boston"],
            "at_s": [0.0, 60.0],
            "latitude_deg": [40.0, 41.0],
            "longitude_deg": [-70.0, -60.0],
            "altitude_km": [0.0, 0.0],
        },
        "contacts": {
            "kind": ["ground", "ground"],
            "a": [satellite, satellite],
            "b": ["london", "boston"],
            "start_s": [0.0, 0.0],
            "end_s": [60.0, 60.0],
        },
        "legs": {
            "path": ["main"],
            "leg": [0],
            "start_s": [0.0],
            "end_s": [60.0],
            "delay_start_s": [0.03],
        },
        "hops": {
            "path": ["main", "main"],
            "leg": [0, 0],
            "hop": [0, 1],
            "from": ["london", satellite],
            "to": [satellite, "boston"],
        },
        "delay": {
            "path": ["main"] * 3,
            "at_s": [0.0, 30.0, 60.0],
            "delay_s": [0.03, None, 0.04],
            "hops": [2, None, 2],
        },
        "handovers": {
            "path": ["main"],
            "at_s": [30.0],
            "site": ["london"],
            "from_satellite": [satellite],
            "to_satellite": [satellite],
            "delay_before_s": [0.03],
            "delay_after_s": [0.04],
            "reasons": ["sets"],
        },
    }
    if moving:
        tables["positions"] = {
            "satellite": [satellite] * 3,
            "at_s": [0.0, 30.0, 60.0],
            "latitude_deg": [50.0, 45.0, 40.0],
            "longitude_deg": [-10.0, -30.0, -60.0],
            "altitude_km": [780.0] * 3,
        }
    whole = {"topology": "by-hand", "epoch": "2026-03-01T00:00:00Z", "span_s": 60.0}
    made = by_hand(directory, tables)
    manifest = {"program": "slantpath", "version": slantpath.__version__, **whole}
    (made / "manifest.json").write_text(json.dumps(manifest))
    return made


def test_intervals_are_embedded_line_by_line_with_gaps_as_nan(tmp_path: Path) -> None:
    out = by_hand(tmp_path / "out", {"flow_intervals": intervals(5, ("b", "a"))})
    page = Page(view(out))
    (table,) = page.told["tables"]
    assert (table["name"], table["at"], table["thinned"]) == ("flow_intervals", "end_s", False)
    assert table["columns"] == ["messages_sent", "throughput_bit_per_s"]
    assert table["first"] == "throughput_bit_per_s"
    lines = [(line["label"], line["from"], line["to"]) for line in table["lines"]]
    assert lines == [("b", 0, 5), ("a", 5, 10)]
    block = page.blocks["flow_intervals"]
    assert block["at"].to_pylist() == [1.0, 2.0, 3.0, 4.0, 5.0] * 2
    assert np.isnan(block["c1"].to_numpy()).tolist() == [False, False, False, True, False] * 2
    assert not any(field.nullable for field in block.schema)
    assert page.told["span"] == [0.0, 5.0]


def test_a_sky_has_nodes_places_contacts_paths_and_handovers(tmp_path: Path) -> None:
    page = Page(view(topology(tmp_path / "sky")))
    sky = page.told["sky"]
    assert [node["name"] for node in sky["nodes"]] == ["london", "boston", "sat-1"]
    assert sky["nodes"][2]["rows"] == [0, 3]
    assert (sky["moving"], sky["contacts"], sky["paths"]) == (True, 2, [{"name": "main"}])
    assert page.blocks["hops"].to_pydict() == {"from": [0.0, 2.0], "to": [2.0, 1.0]}
    assert page.blocks["events"]["words"].to_pylist() == [
        "main, london: from sat-1 to sat-1, delay 30 ms to 40 ms (sets)"
    ]
    assert page.told["epoch"] == {"date": "2026-03-01T00:00:00Z", "at_s": 0.0}
    assert page.told["span"] == [0.0, 60.0]


def test_what_is_not_there_is_said_with_the_key_that_writes_it(tmp_path: Path) -> None:
    page = Page(view(topology(tmp_path / "sky", moving=False)))
    assert '`positions_every = "30 s"` under [topology] writes them' in page.notes()
    assert page.told["sky"]["moving"] is False
    assert "[probes]" not in page.notes()
    scripted: dict[str, Sequence[object]] = {
        "at_s": [1.0],
        "kind": ["link"],
        "name": ["a"],
        "part": ["both"],
        "event": ["down"],
    }
    page = Page(view(by_hand(tmp_path / "run", {"script": scripted})))
    for key in (
        '`intervals = "1 s"` under [probes]',
        "--trace FLOW=FILE",
        "`--sky DIR`",
        "`messages = true`",
    ):
        assert key in page.notes()
    assert page.blocks["events"]["words"].to_pylist() == ["link a both: down"]
    endless = {column: [*cells, *cells] for column, cells in scripted.items()} | {"at_s": [1.0, float("inf")]}
    assert Page(view(by_hand(tmp_path / "endless", {"script": endless}))).told["span"] == [0.0, 1.0]


def test_a_run_that_has_kept_its_sky_shows_it_with_the_paths_of_its_flows(tmp_path: Path) -> None:
    merged = """[scenario]
duration = "20 s"
[nodes.a]
site = "london"
[nodes.b]
site = "boston"
[flows.f]
from = "a"
to = "b"
"""
    names = ["london", "boston", "sat-1", "sat-2"]
    place = {"latitude_deg": [1.0] * 4, "longitude_deg": [2.0] * 4, "altitude_km": [3.0] * 4}
    tables: dict[str, Mapping[str, Sequence[object]]] = {
        "sky_nodes": {
            "node": names,
            "kind": ["site", "site", "satellite", "satellite"],
            "constellation": [None, None, "leo", "leo"],
            **place,
        },
        "sky_positions": {"node": ["sat-1", "sat-1", "sat-2", "sat-2"], "at_s": [0.0, 20.0] * 2, **place},
        "sky_contacts": {
            "kind": ["ground", "inter-satellite"],
            "a": ["london", "sat-1"],
            "b": ["sat-1", "sat-2"],
            "start_s": [0.0, 0.0],
            "end_s": [20.0, 12.5],
        },
        "sky_paths": {
            "at_s": [0.0, 12.5],
            "flow": ["f", "f"],
            "link": ["b.leo", "b.leo"],
            "satellites": ["sat-1 > sat-2", None],
            "propagation_s": [0.02, None],
        },
        "handovers": {"at_s": [12.5], "site": ["london"], "from": ["sat-1"], "to": [None]},
    }
    out = by_hand(tmp_path / "run", tables)
    (out / "scenario.toml").write_text(merged)
    page = Page(view(out))
    sky = page.told["sky"]
    assert [node["name"] for node in sky["nodes"]] == names
    assert [node.get("rows") for node in sky["nodes"]] == [None, None, [0, 2], [2, 4]]
    assert (sky["moving"], sky["contacts"], sky["paths"]) == (True, 2, [{"name": "f to b.leo"}])
    hops = page.blocks["hops"].to_pydict()
    assert list(zip(hops["from"], hops["to"], strict=True)) == [(0, 2), (2, 3), (3, 1)]
    legs = page.blocks["legs"].to_pydict()
    assert (legs["start"], legs["end"]) == ([0, 12.5], [12.5, 20])
    assert (legs["first"], legs["last"]) == ([0, 3], [3, 3])
    assert page.blocks["switches"].to_pydict() == {"at": [12.5], "site": [0], "from": [2], "to": [-1]}
    assert "There is no sky" not in page.notes()


def test_a_run_is_shown_under_its_sky_from_the_instant_at_which_it_begins(tmp_path: Path) -> None:
    out = by_hand(tmp_path / "run", {"flow_intervals": intervals(20)})
    merged = '[scenario]\nduration = "20 s"\n[sky]\nepoch = "2026-01-01T00:00:00Z"\nstart = "10 s"\n'
    (out / "scenario.toml").write_text(merged)
    assert Page(view(out)).told["epoch"] == {"date": "2026-01-01T00:00:00Z", "at_s": -10.0}
    page = Page(view(out, sky=topology(tmp_path / "sky")))
    assert page.told["span"] == [0.0, 20.0]
    assert page.blocks["positions"]["at"].to_pylist() == [-10.0, 20.0, 50.0]
    assert page.blocks["journeys"]["at"].to_pylist() == [-10.0, 50.0]
    assert page.told["sky"]["nodes"][1]["way"] == [0, 2]
    assert page.blocks["contacts"]["start"].to_pylist() == [-10.0, -10.0]
    assert page.blocks["contacts"]["end"].to_pylist() == [50.0, 50.0]
    assert (page.blocks["legs"]["start"].to_pylist(), page.blocks["legs"]["end"].to_pylist()) == (
        [-10.0],
        [50.0],
    )
    assert page.blocks["switches"]["at"].to_pylist() == [20.0]
    assert page.blocks["events"]["at"].to_pylist() == [20.0]
    assert page.told["epoch"]["at_s"] == -10.0


def test_names_of_others_are_strings_of_the_page_and_no_part_of_it(tmp_path: Path) -> None:
    plain = view(topology(tmp_path / "plain"))
    hostile = topology(tmp_path / "hostile", satellite=HOSTILE)
    manifest = json.loads((hostile / "manifest.json").read_text())
    (hostile / "manifest.json").write_text(json.dumps({**manifest, "topology": HOSTILE}))
    html = view(hostile)
    page = Page(html)
    assert page.tags == Page(plain).tags
    assert page.told["sky"]["nodes"][2]["name"] == page.told["title"] == HOSTILE
    assert HOSTILE not in html


def test_the_page_asks_nobody_and_runs_its_own_program_alone(tmp_path: Path) -> None:
    html = view(topology(tmp_path / "sky"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    script = (BUNDLE / "view.js").read_text(encoding="utf-8")
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert view(tmp_path / "sky") == html


def test_lines_are_thinned_to_their_extremes_and_no_more_rows_than_asked() -> None:
    generator = np.random.default_rng(7)
    lines = Lines(1, 20_000)
    values = np.asarray(generator.normal(size=(10, 50_000)), dtype=np.float64)
    values[3, 77] = 99.0
    for batch in range(10):
        at_s = np.arange(50_000, dtype=np.float64) * 0.01 + 500.0 * batch
        lines.add(np.arange(50_000) % 2, at_s, [values[batch]])
    owner, at_s, (kept,) = lines.rows()
    assert (lines.read, lines.is_thinned) == (500_000, True)
    assert len(kept) <= 20_000
    assert (kept.max(), kept.min()) == (99.0, values.min())
    assert at_s[int(np.argmax(kept))] == pytest.approx(1500.77)
    assert np.all(np.diff(at_s[owner == 0]) > 0)
    # Each stretch of both lines has its own extremes.
    stretch = np.floor(at_s[owner == 1] / lines.stretch_s)
    whole = np.floor(np.arange(1, 500_000, 2) * 0.01 / lines.stretch_s)
    flat = values.reshape(-1)[1::2]
    for place in np.unique(stretch)[:50]:
        assert kept[owner == 1][stretch == place].max() == flat[whole == place].max()


def test_few_rows_stay_whole_and_those_without_an_instant_are_left_out() -> None:
    lines = Lines(1, 100)
    lines.add(np.array([0, 0, 0]), np.array([1.0, np.nan, 2.0]), [np.array([1.0, 2.0, np.nan])])
    _, at_s, (kept,) = lines.rows()
    assert (at_s.tolist(), kept[0], np.isnan(kept[1]), lines.is_thinned) == ([1.0, 2.0], 1.0, True, False)


def test_small_tables_stay_whole_beside_large_ones() -> None:
    assert shares([10, 1_000, 1_000], 500) == [10, 245, 245]
    assert shares([10, 20], 500) == [10, 20]
    assert shares([], 500) == []


def test_what_is_too_much_is_thinned_and_said(tmp_path: Path) -> None:
    out = by_hand(tmp_path / "out", {"flow_intervals": intervals(30_000)})
    page = Page(view(out, most_bytes=120_000))
    (table,) = page.told["tables"]
    assert table["thinned"]
    assert page.blocks["flow_intervals"].num_rows <= 5_000
    assert "flow_intervals: 30,000 rows are thinned to" in page.notes()
    assert page.blocks["flow_intervals"]["c0"].to_numpy().max() == 29_999
    sky = topology(tmp_path / "sky")
    page = Page(view(sky, most_bytes=20 * 8))
    assert "positions: every" in page.notes()


def test_other_runs_are_left_out_and_said(tmp_path: Path) -> None:
    table = intervals(4)
    out = by_hand(tmp_path / "out", {"flow_intervals": {**table, "run": [2, 2, 3, 3]}})
    page = Page(view(out))
    assert page.blocks["flow_intervals"].num_rows == 2
    assert "run 2 is shown, other runs (2 rows) are not" in page.notes()


def test_lines_beyond_what_is_embedded_are_told_and_those_of_a_sweep_have_the_axis_in_their_names(
    tmp_path: Path,
) -> None:
    swept = {
        "links.satellite.loss_ratio": [place / 1000 for place in range(501)],
        **intervals(1, ["data"] * 501),
    }
    page = Page(view(by_hand(tmp_path / "out", {"flow_intervals": swept})))
    (table,) = page.told["tables"]
    assert [line["label"] for line in table["lines"]][:2] == ["loss_ratio 0.0", "loss_ratio 0.001"]
    assert (len(table["lines"]), page.blocks["flow_intervals"].num_rows) == (500, 500)
    assert "flow_intervals: 500 of 501 lines are shown; the first ones." in page.notes()


def test_a_path_under_a_sky_is_one_line_whichever_satellites_it_takes(tmp_path: Path) -> None:
    paths: dict[str, Sequence[object]] = {
        "path": ["main", "main"],
        "at_s": [0.0, 5.0],
        "satellites": ["a b", "c"],
        "propagation_s": [0.01, 0.02],
        "satellite_count": [2, 1],
    }
    (table,) = Page(view(by_hand(tmp_path / "out", {"sky_paths": paths}))).told["tables"]
    assert [line["label"] for line in table["lines"]] == ["main"]


def test_events_are_sentences_of_the_first_run_and_those_beyond_what_is_listed_are_told(
    tmp_path: Path,
) -> None:
    tables: dict[str, Mapping[str, Sequence[object]]] = {
        "outages": {
            "from": ["a"],
            "to": ["b"],
            "path": ["10.0.0.2"],
            "begin_s": [1.0],
            "end_s": [4.0],
            "cause": ["script"],
        },
        "failovers": {
            "run": [0, 0, 1],
            "flow": ["data"] * 3,
            "at_s": [2.0, 3.0, 2.0],
            "from_path": ["x", "x", "other run"],
            "to_path": ["y"] * 3,
            "cause": [None, "t3-rtx", None],
            "failed_s": [None, 1.0, None],
            "failover_s": [None, 2.0, None],
        },
        "link_intervals": {
            "link": ["sat"] * 2,
            "direction": ["forward"] * 2,
            "start_s": [0.0, 1.0],
            "end_s": [1.0, 2.0],
            "dropped_packets": [0, 3],
        },
    }
    page = Page(view(by_hand(tmp_path / "out", tables)))
    assert page.blocks["events"]["words"].to_pylist() == [
        "a to b over 10.0.0.2: carries nothing (script)",
        "data: from x to y, spurious",
        "sat, forward: 3 packets dropped within 1 s",
        "data: from x to y, after 2,000 ms (t3-rtx)",
        "a to b over 10.0.0.2: carries packets again",
    ]
    tables["drops"] = {
        "at_s": [1.5, 1.6, 1.7],
        "link": ["sat"] * 3,
        "direction": ["forward"] * 3,
        "reason": ["queue full", "loss", "unreachable"],
        "packet_bytes": [1_048, 60, 9],
        "protocol": ["sctp", "icmp", None],
        "source": ["fd00::1", "10.0.0.1", None],
        "destination": ["fd00::2", "10.0.0.2", None],
        "source_port": [5_000, None, None],
        "destination_port": [5_001, None, None],
        "tsn": [4_294_967_295, None, None],
    }
    page = Page(view(by_hand(tmp_path / "dropped", tables)))
    words = page.blocks["events"]["words"].to_pylist()
    assert [told for told in words if told.startswith("sat")] == [
        "sat, forward: 1,048 B dropped (queue full), SCTP [fd00::1]:5000 to [fd00::2]:5001, TSN 4294967295",
        "sat, forward: 60 B dropped (loss), ICMP 10.0.0.1 to 10.0.0.2",
        "sat, forward: 9 B dropped (unreachable)",
    ]
    scripted: dict[str, Sequence[object]] = {
        "at_s": [float(at) for at in range(5_001)],
        **{key: [key] * 5_001 for key in ("kind", "name", "part", "event")},
    }
    page = Page(view(by_hand(tmp_path / "many", {"script": scripted})))
    assert page.blocks["events"].num_rows == 5_000
    assert "the first 5,000 of 5,001 of the kind `script` are listed" in page.notes()


def test_a_trace_has_its_tsns_windows_and_time_outs(tmp_path: Path) -> None:
    out = by_hand(tmp_path / "out", {"flow_intervals": intervals(4)})
    path = {"cwnd_bytes": 4_000, "ssthresh_bytes": 9_000, "flight_bytes": 500, "rto_ns": 10**9}
    records: list[dict[str, object]] = [
        {"slantpath_trace": 1, "program": "0.1.0", "origin": {"kind": "simulated", "flow": "data"}},
        {"t_ns": 1, "event": "sent", "tsn": 2**32 - 1, "transmission": 1, "message": 0},
        {"t_ns": 2, "event": "sent", "tsn": 0, "transmission": 1, "message": 1},
        {"t_ns": 3 * 10**9, "event": "path", "path": "10.0.0.2", **path},
        {"t_ns": 4 * 10**9, "event": "t3_rtx", "path": "10.0.0.2", "change": "expired", "rto_ns": 10**9},
        {"t_ns": 4 * 10**9, "event": "lost", "tsn": 0, "path": "10.0.0.2"},
        {"t_ns": 5 * 10**9, "event": "sent", "tsn": 0, "transmission": 2, "message": 1},
        {"t_ns": 6 * 10**9, "event": "end"},
    ]
    lines = [
        json.dumps({"association": 0, **record} if place else record) for place, record in enumerate(records)
    ]
    (out / "data.trace").write_text("\n".join(lines) + "\n")
    page = Page(view(out))
    tsn = next(table for table in page.told["tables"] if table["name"] == "trace-1-tsn")
    assert [line["label"] for line in tsn["lines"]] == ["sent", "noticed as lost", "retransmitted"]
    assert page.blocks["trace-1-tsn"]["c0"].to_pylist() == [0.0, 1.0, 1.0, 1.0]
    assert [line["large"] for line in tsn["lines"]] == [False, True, True]
    assert "`slantpath explain` tells no events of its trace: " in page.notes()
    assert "the trace is not whole" not in page.notes()
    (out / "data.trace").write_text("\n".join(lines[:-1]) + "\n")
    assert "the trace is not whole, it ends before its run" in Page(view(out)).notes()


def test_what_explain_says_of_a_trace_are_events() -> None:
    events = Events()
    down = "10.0.0.2: is inactive: more than Path.Max.Retrans (2) errors in a row"
    expired = "10.0.0.2: T3-rtx expired after an RTO of 1.000 s; 528 bytes outstanding are given up"
    sent = "sent at 8.0 s to 10.0.0.2; lost: T3-rtx expired; retransmitted at 9.1 s to 10.1.0.2"
    lines = [
        "flow `data` from a to b: seed 1, run 0",
        "What happened",
        f"  8.047275 s  {down}",
        f"  9.000000 s  {expired}",
        "  9.500000 s  10.0.0.2: a HEARTBEAT was not answered: error 1 in a row",
        "Messages that had to be retransmitted",
        "  message 3677",
        f"    {sent}",
        "    acknowledged at 9.6 s",
    ]
    take([f"{line}\n" for line in lines], "data", events)
    assert events.listed == [
        (8.047275, "path", f"data, {down}"),
        (9.0, "time-out", f"data, {expired}"),
        (9.5, "heartbeat", "data, 10.0.0.2: a HEARTBEAT was not answered: error 1 in a row"),
        (9.1, "retransmission", f"data, message 3677: {sent}"),
    ]


def test_a_traced_run_has_the_reasons_of_explain_in_place_of_its_table(tmp_path: Path) -> None:
    trace = tmp_path / "data.trace"
    scenario = ROOT / "scenarios" / "first.toml"
    subprocess.run(  # noqa: S603 - our own program
        [
            *(sys.executable, "-m", "slantpath", "run", str(scenario), "--out", str(tmp_path / "out")),
            *("--set", "scenario.duration=20 s", "--trace", f"signalling={trace}"),
        ],
        check=True,
        capture_output=True,
    )
    plain, traced = Page(view(tmp_path / "out")), Page(view(tmp_path / "out", traces=[trace]))
    kinds = [one["name"] for one in traced.told["events"]["kinds"]]
    assert kinds == ["loss", "path", "retransmission"]
    kind = kinds.index("retransmission")
    words = [row["words"] for row in traced.blocks["events"].to_pylist() if row["kind"] == kind]
    assert len(words) > 3
    assert all("; lost: " in sentence and "; retransmitted at " in sentence for sentence in words)
    (before,) = [one for one in plain.told["events"]["kinds"] if one["name"] == "retransmission"]
    assert before["count"] == len(words)


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({}, "holds nothing over time"),
        ({"flows": {"flow": ["a"]}}, "holds nothing over time: There is no sky here"),
    ],
)
def test_a_directory_without_time_is_refused_with_what_would_write_it(
    tables: Mapping[str, Mapping[str, Sequence[object]]], why: str, tmp_path: Path
) -> None:
    out = by_hand(tmp_path / "out", tables)
    with pytest.raises(ViewError, match=re.escape(why)):
        view(out)
    with pytest.raises(ViewError, match=r"is not there"):
        view(tmp_path / "none")


def test_tables_of_other_programs_that_are_called_so_are_left_alone(tmp_path: Path) -> None:
    names = ("positions", "contacts", "legs", "hops", "map_nodes", "handovers", "script", "messages", "delay")
    other: dict[str, Sequence[object]] = {"at_s": [1.0], "what": ["else"]}
    tables = {**dict.fromkeys(names, other), "flow_intervals": intervals(4)}
    page = Page(view(by_hand(tmp_path / "out", tables)))
    assert [table["name"] for table in page.told["tables"]] == ["flow_intervals"]
    assert (page.told["sky"], page.told["events"]) == (None, None)


def test_a_place_that_is_not_known_is_none(tmp_path: Path) -> None:
    sky = topology(tmp_path / "sky", moving=False)
    nodes = pq.read_table(sky / "map_nodes.parquet").to_pydict()
    pq.write_table(pa.table({**nodes, "latitude_deg": [50.0, float("nan"), None]}), sky / "map_nodes.parquet")
    places = [node["place"] for node in Page(view(sky)).told["sky"]["nodes"]]
    assert places == [[50.0, 0.0, 0.0], None, None]


def test_a_table_that_is_cut_is_an_error_that_names_it(tmp_path: Path) -> None:
    out = by_hand(tmp_path / "out", {"flow_intervals": intervals(4)})
    file = out / "flow_intervals.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ViewError, match=r"flow_intervals\.parquet is not whole"):
        view(out)


def test_the_command_writes_a_file_and_overwrites_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = by_hand(tmp_path / "out", {"flow_intervals": intervals(4)})
    assert command.main([str(out)]) == command.DONE
    assert capsys.readouterr().out == f"{out / 'view.html'}\n"
    assert command.main([str(out)]) == command.MISUSED
    assert "--force overwrites it" in capsys.readouterr().err
    assert command.main([str(out), "--force"]) == command.DONE
    assert command.main([str(tmp_path / "none")]) == command.MISUSED
    assert command.main([str(out), "--out", str(tmp_path)]) == command.MISUSED
    assert command.main([str(out), "--force", "--trace", str(tmp_path / "none")]) == command.FAILED


def test_the_bundle_is_that_of_its_sources() -> None:
    names = ["build.mjs", "package-lock.json", *(f"src/{file.name}" for file in (SOURCES / "src").iterdir())]
    told = hashlib.sha256()
    for name in sorted(names):
        told.update(f"{name}\n".encode() + (SOURCES / name).read_bytes())
    script = (BUNDLE / "view.js").read_text(encoding="utf-8")
    assert script.startswith(f"/* sources {told.hexdigest()} */"), (
        "the sources have changed: make view-bundle"
    )
    assert len(script) + (BUNDLE / "view.css").stat().st_size <= 1_000_000
    assert "</script" not in script.lower()


@pytest.mark.skipif(
    NODE is None or not (SOURCES / "node_modules").is_dir(),
    reason="no Node with the packages of python/view (npm ci): a hash of the sources alone is compared",
)
def test_the_bundle_is_what_its_sources_give() -> None:
    built = subprocess.run(  # noqa: S603 - our own program
        [str(NODE), "build.mjs", "--check"], cwd=SOURCES, check=False, capture_output=True, text=True
    )
    assert (built.returncode, built.stderr) == (0, "")


def test_licences_of_what_is_bundled_go_with_it() -> None:
    text = (BUNDLE / "licences.txt").read_text(encoding="utf-8")
    lock = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    for name in ("d3-array", "d3-geo", "hyparquet", "topojson-client", "uplot", "world-atlas"):
        package = lock[f"node_modules/{name}"]
        assert f"\n{name} {package['version']}: {package['license']}\n" in text
