"""Compares Parquet files with the values they must hold: FILE.json beside each, a list of values for each column."""

import json
import struct
import sys

import polars
import pyarrow.parquet


def shown(value: object) -> object:
    """Doubles as their bits, integers as text: JSON has neither."""
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    return str(value) if isinstance(value, int) else value


for path in sys.argv[1:]:
    with open(f"{path}.json", encoding="utf-8") as file:
        expected = json.load(file)
    table = pyarrow.parquet.read_table(path)
    frame = polars.read_parquet(path)
    for i, values in enumerate(expected):
        assert [shown(value) for value in table.column(i).to_pylist()] == values, f"pyarrow: {path}, column {i}"
        assert [shown(value) for value in frame.to_series(i).to_list()] == values, f"polars: {path}, column {i}"
print(f"{len(sys.argv) - 1} files")
