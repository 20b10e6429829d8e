"""
All of `daily` as a frame: `reader` reads `source`, which is the address of a server or a pattern of Parquet files, into a
frame of `library`. The response has the seconds, and the rows of the frame. A process imports only what it uses.
"""

from __future__ import annotations

import gc
import json
from functools import cache
from time import perf_counter
from typing import Any

from serve import serve


def from_tapehouse(source: str, library: str) -> Any:
    daily = client(source).daily()
    return daily.pandas() if library == "pandas" else daily.polars()


def from_polars(source: str, library: str) -> Any:
    import polars as pl

    frame = pl.read_parquet(source)
    return frame.to_pandas() if library == "pandas" else frame


def from_chdb(source: str, library: str) -> Any:
    # Its own way to a frame of pandas is slower than that through Arrow.
    table = chdb().query(f"SELECT * FROM file('{source}', Parquet)", "ArrowTable")
    if library == "pandas":
        return table.to_pandas()
    import polars as pl

    return pl.from_arrow(table)


def from_duckdb(source: str, library: str) -> Any:
    rows = duckdb().sql(f"SELECT * FROM read_parquet('{source}')")
    return rows.df() if library == "pandas" else rows.pl()


READERS = {"tapehouse": from_tapehouse, "polars": from_polars, "chdb": from_chdb, "duckdb": from_duckdb}


@cache
def client(url: str) -> Any:
    from tapehouse import Client

    return Client(url)


@cache
def chdb() -> Any:
    import chdb as engine

    return engine.connect(":memory:")


@cache
def duckdb() -> Any:
    import duckdb as engine

    return engine.connect()


def answer(parameters: "dict[str, str]") -> bytes:
    started = perf_counter()
    frame = READERS[parameters["reader"]](parameters["source"], parameters["library"])
    seconds = perf_counter() - started
    rows = len(frame)
    del frame
    gc.collect()
    return json.dumps({"seconds": seconds, "rows": rows}).encode()


serve(answer)
