"""Cells of a report: numbers with the digits that they have, and names that may break."""

from __future__ import annotations

from test_report import Page

from slantpath import page
from slantpath.report.measures import told, unit, with_width


def test_numbers_are_told_to_the_digits_that_they_have() -> None:
    assert with_width(251.23456, 0.0234) == "251.235 ± 0.023"
    assert with_width(12345.6, 345.0) == "12,346 ± 345"
    assert told([0.25, None], 1e3) == "250"
    assert told([0.25, 0.25], 1e3) == "250"
    assert told([None], 1.0) == "–"
    assert told([7.5e-7], 1.0) == "< 0.001"
    assert unit("delay_mean_s", [0.2, None]).head("mean") == "mean / ms"
    assert unit("outage_s", [200.0]).name == "s"
    assert unit("throughput_bit_per_s", [2.5e6]).name == "Mbit/s"


def test_a_long_name_may_break_on_paper_and_a_short_one_may_not() -> None:
    made = Page(
        page.table(
            "t",
            ("links.ground.loss_ratio / %", "path"),
            [("telemetry", "0123456789abcdef 100.64.0.5"), ("sctp.path_max_retrans", "")],
        )
    )
    classes = [cell.get("class") for cell in made.of("td", "th")]
    assert classes == [None, None, None, "breaks", None, None]
    # Paths break behind dots and underscores, but not in numbers.
    assert len(made.of("wbr")) == 3 + 3
    first, second = made.table("t")
    assert first == {"links.ground.loss_ratio / %": "telemetry", "path": "0123456789abcdef 100.64.0.5"}
    assert second == {"links.ground.loss_ratio / %": "sctp.path_max_retrans", "path": ""}
    assert ".breaks, td.claim, td.long { overflow-wrap: anywhere }" in page.STYLE
