"""
polars behind HTTP: the Parquet files of `glob` in `format`, held in memory; only `columns`, and only the days between
`start` and `end`, if they are given.
"""

from __future__ import annotations

from datetime import date
from io import BytesIO
from typing import Callable

import polars as pl
from serve import Buffer, serve


def arrow(frame: pl.DataFrame) -> memoryview:
    stream: BytesIO = frame.write_ipc_stream(None)
    return stream.getbuffer()


def parquet(frame: pl.DataFrame) -> memoryview:
    file = BytesIO()
    frame.write_parquet(file)
    return file.getbuffer()


WRITE: "dict[str, Callable[[pl.DataFrame], Buffer]]" = {
    "arrow": arrow,
    "parquet": parquet,
    "csv": lambda frame: frame.write_csv().encode(),
    "ndjson": lambda frame: frame.write_ndjson().encode(),
}


def answer(parameters: "dict[str, str]") -> Buffer:
    frame = pl.scan_parquet(parameters["glob"])
    if "start" in parameters:
        start, end = (date.fromisoformat(parameters[name]) for name in ("start", "end"))
        frame = frame.filter(pl.col("trade_date").is_between(start, end))
    if "columns" in parameters:
        frame = frame.select(parameters["columns"].split(","))
    return WRITE[parameters["format"]](frame.collect())


serve(answer)
