"""
DuckDB's own writer without sending anything: runs `query` as COPY to /dev/null in `format` on both cores, and reports
that it is done.
"""

from __future__ import annotations

import duckdb
from serve import serve

database = duckdb.connect()


def answer(parameters: "dict[str, str]") -> bytes:
    query, name = parameters["query"], parameters["format"]
    # Otherwise it might write another file first and rename it.
    database.cursor().execute(f"COPY ({query}) TO '/dev/null' (FORMAT {name}, USE_TMP_FILE false)")
    return b"done"


serve(answer)
