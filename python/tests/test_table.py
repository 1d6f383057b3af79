"""Tables of results: read by other libraries, written to files, sent to other processes."""

from __future__ import annotations

import json
import math
import pickle
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slantpath import Table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def messages() -> Table:
    return Table.of(
        "messages",
        [
            ("flow", "text", ["data", "data", None]),
            ("number", "u64", [0, 1, 2**64 - 1]),
            ("delay_s", "f64", [0.25, None, 1e-9]),
            ("change_bytes", "i64", [-1, None, 5]),
            ("is_lost", "bool", [False, True, None]),
        ],
    )


ROWS: list[dict[str, Any]] = [
    {"flow": "data", "number": 0, "delay_s": 0.25, "change_bytes": -1, "is_lost": False},
    {"flow": "data", "number": 1, "delay_s": None, "change_bytes": None, "is_lost": True},
    {"flow": None, "number": 2**64 - 1, "delay_s": 1e-9, "change_bytes": 5, "is_lost": None},
]


def test_pyarrow_reads_every_cell_and_the_units(messages: Table) -> None:
    arrow = pa.table(messages)
    assert arrow.to_pylist() == ROWS
    assert arrow.schema.metadata == {b"slantpath.table": b"messages"}
    assert arrow.schema.field("delay_s").metadata == {b"unit": b"s"}
    assert pa.schema(messages) == arrow.schema


def test_polars_reads_every_cell(messages: Table) -> None:
    assert pl.DataFrame(messages).with_columns(pl.col("flow").cast(pl.String)).to_dicts() == ROWS


def test_pandas_reads_every_cell(messages: Table) -> None:
    frame = pd.DataFrame.from_arrow(messages)
    assert list(frame.columns) == messages.column_names
    assert frame["delay_s"].tolist()[0] == 0.25
    assert math.isnan(frame["delay_s"].tolist()[1])
    assert frame["number"].tolist() == [0, 1, 2**64 - 1]


def test_a_table_knows_its_columns_and_units(messages: Table) -> None:
    assert len(messages) == 3
    assert messages.name == "messages"
    assert messages.units == {"delay_s": "s", "change_bytes": "B"}
    assert messages["flow"] == ["data", "data", None]
    with pytest.raises(KeyError, match="table `messages` has no column `delay`; it has flow, number"):
        messages["delay"]


def test_a_table_survives_pickling(messages: Table) -> None:
    assert pickle.loads(pickle.dumps(messages)) == messages


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="has two columns `a`"):
        Table.of("t", [("a", "f64", []), ("a", "f64", [])])
    with pytest.raises(TypeError, match="a column is `bool`, `f64`, `i64`, `text` or `u64`"):
        Table.of("t", [("a", "f32", [])])
    with pytest.raises(OverflowError):
        Table.of("t", [("a", "u64", [-1])])


def test_tables_of_several_runs_are_stacked_under_their_keys(messages: Table) -> None:
    stacked = Table.stacked("all", [messages.keyed([("case", "a"), ("run", run)]) for run in range(2)])
    assert stacked.column_names[:2] == ["case", "run"]
    assert stacked["run"] == [0, 0, 0, 1, 1, 1]
    assert stacked["flow"] == ["data", "data", None] * 2
    with pytest.raises(ValueError, match="has other columns than the first"):
        Table.stacked("all", [messages, messages.keyed([("run", 1)])])


def test_equal_tables_are_written_as_equal_files(messages: Table, tmp_path: Path) -> None:
    for kind in ("parquet", "csv", "jsonl"):
        one, other = tmp_path / "deep" / f"one.{kind}", tmp_path / f"other.{kind}"
        messages.write(one)
        pickle.loads(pickle.dumps(messages)).write(other)
        assert one.read_bytes() == other.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_without_a_known_ending_is_refused_and_not_written(messages: Table, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a table is written as `\.parquet`, `\.csv` or `\.jsonl`"):
        messages.write(tmp_path / "messages.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_csv_is_read_back_with_its_types(messages: Table, tmp_path: Path) -> None:
    messages.write(tmp_path / "m.csv")
    types = {"number": pa.uint64(), "change_bytes": pa.int64(), "is_lost": pa.bool_()}
    options = pa_csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    assert pa_csv.read_csv(tmp_path / "m.csv", convert_options=options).to_pylist() == ROWS


def test_json_lines_are_objects(messages: Table, tmp_path: Path) -> None:
    messages.write(tmp_path / "m.jsonl")
    assert [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()] == ROWS


CELLS = st.lists(
    st.tuples(
        st.none() | st.floats(allow_nan=False),
        st.none() | st.integers(0, 2**64 - 1),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.booleans(),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    ),
    max_size=30,
)
TYPES = ("f64", "u64", "i64", "bool", "text")


@settings(max_examples=50, deadline=None)
@given(rows=CELLS)
def test_parquet_and_arrow_hold_what_was_put_in(
    rows: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    columns = [(kind, kind, [row[place] for row in rows]) for place, kind in enumerate(TYPES)]
    table = Table.of("t", columns)
    expected = [dict(zip(TYPES, row, strict=True)) for row in rows]
    assert pa.table(table).to_pylist() == expected
    path = tmp_path_factory.mktemp("parquet") / "t.parquet"
    table.write(path)
    assert pq.read_table(path).to_pylist() == expected


def test_a_table_becomes_a_frame_of_pandas_or_polars(messages: Table) -> None:
    frame, other = messages.to_pandas(), messages.to_polars()
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(other, pl.DataFrame)
    assert list(frame.columns) == other.columns == messages.column_names
    for name in messages.column_names:
        assert other[name].to_list() == messages[name]
        assert [None if pd.isna(cell) else cell for cell in frame[name]] == messages[name]


def test_who_lacks_pandas_or_polars_is_told_what_to_install(
    messages: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, call in (("pandas", messages.to_pandas), ("polars", messages.to_polars)):
        # As if nobody had installed it.
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"pip install {name}"):
            call()


def test_a_notebook_shows_the_first_rows_and_no_markup_of_cells() -> None:
    table = Table.of("t", [("a<b", "text", ["<script>", None, *["x"] * 9]), ("n", "u64", list(range(11)))])
    shown = table._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "a&lt;b" in shown
    assert (shown.count("<tr>"), "10 of 11 rows" in shown) == (11, True)
    wide = Table.of("wide", [(f"c{place}", "u64", []) for place in range(10)])
    assert repr(wide) == "<Table wide: 0 rows of c0, c1, c2, c3, c4, c5, c6, c7 and 2 more columns>"
