"""Reports of directories that `slantpath plan --out` and `slantpath load --out` wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from test_report import NASTY, Page

from slantpath import __version__
from slantpath.report import ReportError, command, report

if TYPE_CHECKING:
    from pathlib import Path

PLAN: dict[str, Any] = {
    "kind": "plan",
    "version": __version__,
    "command": ["plan", "geo.toml", "--set", "path.round_trip=650 ms"],
    "inputs": {
        "path.round_trip": {"value": 0.65, "unit": "s", "meaning": "Round trip of the path."},
        "band.permanent": {"value": 2_048_000, "unit": "bit/s", "meaning": "Rate that is always there."},
        "signalling.carrier": {"value": "m2pa", "unit": None, "meaning": "What carries the messages."},
    },
    "answers": [
        {
            "name": "sctp.rto_min",
            "value": 4.875,
            "unit": "s",
            "meaning": "RTO.Min.",
            "why": "Above the fade.",
            "least": 0.65,
            "most": None,
        },
        {"name": "sctp.path_max_retrans", "value": 0, "unit": "", "meaning": "PMR.", "why": "One is enough."},
        {"name": "sctp.is_paced", "value": True, "unit": "", "meaning": "Pacing.", "why": ""},
        {"name": "sctp.hb_interval", "value": None, "unit": "s", "meaning": "", "why": ""},
    ],
    "warnings": ["the fade is longer than the association waits"],
    "hash": "cafe",
    "simulated": {
        "held": False,
        "promises": [
            {"promise": "loss", "measured": 0.25, "most": 0.001, "verdict": "exceeded", "holds": False}
        ],
        "runs": [{"run": "step", "outstanding_bytes": 9000, "delay_max_s": 1.5}],
    },
}
LOAD: dict[str, Any] = {
    "kind": "load",
    "version": __version__,
    "command": ["slantpath", "load", "10.1.0.2", "--rate", "500"],
    "summary": [
        {"name": "sent", "value": 1500, "unit": "messages", "meaning": "Messages that were sent."},
        {"name": "latency.p99", "value": 0.04250004, "unit": "s", "meaning": "99 % below."},
        {"name": "throughput", "value": 2_048_000.0, "unit": "bit/s", "meaning": "What came back."},
    ],
    "failovers": [{"at_s": 1.5, "took_s": 0.52}],
    "seconds": [
        {"at_s": 1.0, "sent_messages": 500, "latency_p50_s": 0.04, "throughput_bit_per_s": 1e6},
        {"at_s": 2.0, "sent_messages": 480, "latency_p50_s": 0.05, "throughput_bit_per_s": 9e5},
        {"at_s": 3.0, "sent_messages": 520, "latency_p50_s": None, "throughput_bit_per_s": 8e5},
    ],
    "report": {
        "path_events": [{"at_s": 1.2, "path": "10.1.0.2", "event": "inactive"}],
        "paths": [{"destination": "10.1.0.2", "is_primary": True, "srtt_s": 0.0402}],
    },
}


def written(directory: Path, document: dict[str, Any]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{document['kind']}.json").write_text(json.dumps(document))
    return directory


def test_a_plan_s_report_has_each_answer_with_its_reason_and_the_question(tmp_path: Path) -> None:
    html = report(written(tmp_path / "geo", PLAN))
    made = Page(html)
    assert "<h1>geo: plan</h1>" in html
    answers = made.table("What the planner answers")
    assert answers[0] == {
        "name": "sctp.rto_min",
        "value": "4.875 s",
        "allowed": "at least 650 ms",
        "meaning": "RTO.Min.",
        "why": "Above the fade.",
    }
    assert [row["value"] for row in answers[1:]] == ["0", "yes", "–"]
    inputs = {row["name"]: row["value"] for row in made.table("What was asked")}
    assert inputs == {
        "path.round_trip": "650 ms",
        "band.permanent": "2.048 Mbit/s",
        "signalling.carrier": "m2pa",
    }
    (promise,) = made.table("Each promise")
    assert promise == {
        "promise": "loss",
        "measured": "0.25",
        "most": "0.001",
        "verdict": "exceeded",
        "holds": "no",
    }
    assert made.table("Each run.") == [{"run": "step", "outstanding / B": "9000", "delay max / s": "1.5"}]
    assert "Not all promises are kept." in html
    assert ("li", "the fade is longer than the association waits") in made.strings
    assert ("pre", "slantpath plan geo.toml --set 'path.round_trip=650 ms'") in made.strings
    assert "plan.toml" not in html
    for name in ("plan.toml", "scenario.toml"):
        (tmp_path / "geo" / name).write_text(f"# {name} <here>\n")
    html = report(tmp_path / "geo")
    assert ("pre", "slantpath plan plan.toml --out again") in Page(html).strings
    assert ("pre", "# plan.toml <here>\n") in Page(html).strings
    assert ("pre", "# scenario.toml <here>\n") in Page(html).strings
    assert report(tmp_path / "geo") == html


def test_a_load_s_report_has_summary_failovers_and_figures_over_time(tmp_path: Path) -> None:
    made = Page(report(written(tmp_path, LOAD)))
    summary = {row["name"]: row["value"] for row in made.table("What was measured.")}
    assert summary == {"sent": "1,500 messages", "latency.p99": "42.5 ms", "throughput": "2.048 Mbit/s"}
    assert made.table("Each failover: when it ended") == [{"at / s": "1.5", "took / s": "0.52"}]
    assert made.table("Changes of paths") == [{"at / s": "1.2", "path": "10.1.0.2", "event": "inactive"}]
    assert made.table("Each path") == [{"destination": "10.1.0.2", "is primary": "yes", "srtt / s": "0.0402"}]
    assert [row["latency p50 / s"] for row in made.table("What was measured second by second")] == [
        "0.04",
        "0.05",
        "–",
    ]
    words = [str(image["alt"]) for image in made.of("img")]
    assert len(words) == 3
    assert (
        "time / ms. latency p50: least 40, most 50, last 50. Marked: failovers: 1; events of paths: 1."
        in words[0]
    )
    assert "rate / kbit/s. throughput: least 800, most 1,000, last 800." in words[1]
    assert "messages. sent: least 480, most 520, last 520." in words[2]


def test_documents_of_one_command_are_compared_value_by_value(tmp_path: Path) -> None:
    other = json.loads(json.dumps(PLAN))
    other["inputs"]["path.round_trip"]["value"] = 0.13
    other["answers"][0] |= {"value": 0.975, "why": "Another reason."}
    other["answers"][1]["why"] = "The value is the same."
    del other["answers"][3]
    first, second = written(tmp_path / "geo", PLAN), written(tmp_path / "leo", other)
    made = Page(report(first, second))
    (asked,) = [rows for caption, rows in made.tables.items() if caption.startswith("Question: ")]
    assert asked[1:] == [["path.round_trip", "650 ms", "130 ms", "−80.0"]]
    (told,) = [rows for caption, rows in made.tables.items() if caption.startswith("Answer: ")]
    assert told[1:] == [["sctp.rto_min", "4.875 s", "975 ms", "−80.0"]]
    assert "Nothing differs." in report(first, first)
    with pytest.raises(ReportError, match="give two directories of one command"):
        report(first, written(tmp_path / "load", LOAD))


def test_a_manifest_beside_a_document_is_read_with_it(tmp_path: Path) -> None:
    written(tmp_path, PLAN)
    manifest = {"program": "slantpath", "version": __version__, "kind": "plan", "files": ["plan.json"]}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert "4.875 s" in report(tmp_path)
    (tmp_path / "plan.json").unlink()
    with pytest.raises(ReportError, match=r"plan\.json is missing: give `slantpath plan` with"):
        report(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "state": "being written"}))
    with pytest.raises(ReportError, match="is not whole \\(being written\\): wait for its command"):
        report(tmp_path)


def test_a_document_that_is_none_is_told_with_its_cure(tmp_path: Path) -> None:
    file = written(tmp_path, PLAN) / "plan.json"
    for text, why in (
        ("{", "plan.json is not whole: give the command that made it again"),
        ("[]", "plan.json is none of `slantpath plan`: give a directory that its `--out` wrote"),
        ('{"kind": "load"}', "plan.json is none of `slantpath plan`"),
        (json.dumps({**PLAN, "version": "9.1.0"}), "is of slantpath 9.1.0, whose tables"),
    ):
        file.write_text(text)
        with pytest.raises(ReportError) as refused:
            report(tmp_path)
        assert why in str(refused.value)
    file.write_text(json.dumps({**PLAN, "answers": [], "warnings": []}))
    assert "The document has no answers: the warnings say which demand cannot be met" in report(tmp_path)


def test_any_document_gives_a_page_whose_strings_are_escaped(tmp_path: Path) -> None:
    odd: list[Any] = [
        NASTY,
        None,
        5,
        [NASTY],
        {NASTY: NASTY},
        {"name": NASTY, "value": [NASTY], "unit": NASTY},
    ]
    for kind in ("plan", "load"):
        names = ("inputs", "answers", "warnings", "summary", "failovers", "seconds", "command")
        for found in (odd, {NASTY: {"value": NASTY, "meaning": NASTY}}, NASTY, float("nan"), 1e300):
            document = {"kind": kind, "version": __version__, **dict.fromkeys(names, found)}
            html = report(written(tmp_path / kind, document))
            Page(html)
            assert "<script" not in html


def test_numbers_beyond_all_measure_give_a_page(tmp_path: Path) -> None:
    huge = "9" * 400
    text = json.dumps(LOAD).replace("1500", huge).replace("500", huge).replace("1.5", "1e999")
    (tmp_path / "load.json").write_text(text)
    Page(report(tmp_path))


def test_the_command_writes_the_report_of_a_plan_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, PLAN)
    assert command.main([str(tmp_path)]) == command.DONE
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"
    assert command.main([str(tmp_path)]) == command.MISUSED
    assert "is there: --force overwrites it" in capsys.readouterr().err
