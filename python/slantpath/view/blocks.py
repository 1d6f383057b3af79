"""Blocks of data as a page holds them: columns of Parquet in base64, which its reader takes apart."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64] | NDArray[np.float32]

CELL_BYTES = 8
"""Bytes of a number, as a page that shows it holds it."""


@dataclass(slots=True)
class Blocks:
    """The blocks of a page, by their names."""

    parquet: dict[str, bytes] = field(default_factory=dict)
    _last: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, columns: Mapping[str, Numbers | Sequence[str]]) -> None:
        """Add columns of one length: numbers, where NaN stands for a missing one, or strings.

        None of them may be missing for Parquet: so the reader has arrays of numbers, not of objects.
        """
        at_s = columns.get("at")
        if isinstance(at_s, np.ndarray) and len(at_s):
            self._last[name] = float(at_s.max())
        arrays = [
            pa.array(np.ascontiguousarray(column))
            if isinstance(column, np.ndarray)
            else pa.array(column, pa.string())
            for column in columns.values()
        ]
        schema = pa.schema(
            [pa.field(key, array.type, nullable=False) for key, array in zip(columns, arrays, strict=True)]
        )
        table = pa.Table.from_arrays(arrays, schema=schema)
        sink = io.BytesIO()
        pq.write_table(
            table,
            sink,
            compression="snappy",
            row_group_size=max(table.num_rows, 1),
            data_page_size=1 << 20,
            write_statistics=False,
            store_schema=False,
        )
        self.parquet[name] = sink.getvalue()

    def last(self, name: str) -> float:
        """Give the latest instant of a block, zero of one that has none."""
        return self._last.get(name, 0.0)

    def html(self) -> str:
        """Give the elements that hold them. Base64 has no letter that would end one."""
        return "\n".join(
            f'<script type="application/vnd.apache.parquet" data-block="{name}">'
            f"{base64.b64encode(data).decode()}</script>"
            for name, data in self.parquet.items()
        )
