"""Reads responses with the libraries that Python programs use. See test/readers/README.md."""

import csv
import json
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable

import datafusion
import deltalake
import duckdb
import fastparquet
import nanoarrow
import nanoarrow.ipc
import numpy
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.dataset
import pyarrow.json
import pyarrow.parquet

Columns = list[tuple[str, str]]
Rows = Iterable[Iterable[object]]


def shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return f"t{value.encode().hex()}"
    if isinstance(value, float):
        return f"f{struct.pack('>d', value).hex()}"
    if isinstance(value, int):
        return f"i{value}"
    raise TypeError(f"a value of type {type(value).__name__}")


def dumped(columns: Columns, rows: Rows) -> str:
    head = "\t".join(f"{name}:{kind}" for name, kind in columns)
    return "".join(f"{line}\n" for line in [head, *("\t".join(map(shown, row)) for row in rows)])


ARROW_KINDS = {"string": "text", "large_string": "text", "string_view": "text", "double": "float", "int64": "int"}
ARROW_TYPES = {"text": pyarrow.string(), "float": pyarrow.float64(), "int": pyarrow.int64()}
POLARS_TYPES = {"text": polars.String, "float": polars.Float64, "int": polars.Int64}
PANDAS_TYPES = {"text": "str", "float": "float64", "int": "Int64"}
SQL_TYPES = {"text": "VARCHAR", "float": "DOUBLE", "int": "BIGINT"}


def types(columns: Columns, of: dict[str, object]) -> dict[str, object]:
    return {name: of[kind] for name, kind in columns}


def arrow_table(table: pyarrow.Table) -> str:
    table.validate(full=True)
    columns = [(field.name, ARROW_KINDS[str(field.type)]) for field in table.schema]
    return dumped(columns, zip(*(column.to_pylist() for column in table.columns), strict=True))


def polars_frame(frame: polars.DataFrame) -> str:
    kinds = {of: kind for kind, of in POLARS_TYPES.items()}
    return dumped([(name, kinds[of]) for name, of in frame.schema.items()], frame.iter_rows())


def duckdb_relation(relation: duckdb.DuckDBPyRelation) -> str:
    kinds = {of: kind for kind, of in SQL_TYPES.items()}
    columns = [(name, kinds[str(of)]) for name, of in zip(relation.columns, relation.types, strict=True)]
    return dumped(columns, relation.fetchall())


def pandas_frame(frame: pandas.DataFrame) -> str:
    """Columns of texts that are all missing have no type that tells so: they count as text."""
    kinds = {"f": "float", "i": "int"}
    columns = [(name, kinds.get(getattr(of, "kind", "O"), "text")) for name, of in frame.dtypes.items()]
    values = [[None if pandas.isna(one) else one for one in frame[name].tolist()] for name in frame.columns]
    return dumped(columns, zip(*values, strict=True))


def linked(path: str, ending: str) -> str:
    """The same file under the name that a reader demands."""
    link = f"{path}.{ending}"
    if not os.path.exists(link):
        os.link(path, link)
    return link


def with_datafusion(read: Callable[[datafusion.SessionContext], datafusion.DataFrame]) -> str:
    frame = read(datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1)))
    return arrow_table(pyarrow.Table.from_batches(frame.collect(), schema=frame.schema()))


def arrow_schema(columns: Columns) -> pyarrow.Schema:
    return pyarrow.schema(list(types(columns, ARROW_TYPES).items()))


def as_delta_table(path: str) -> str:
    """The file as the only one of a Delta table, read through delta-rs."""
    with tempfile.TemporaryDirectory() as folder:
        with open(path, "rb") as file, open(f"{folder}/part.parquet", "wb") as copy:
            copy.write(file.read())
        deltalake.convert_to_deltalake(folder)
        table = deltalake.DeltaTable(folder)
        rows = deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all()
        return arrow_table(pyarrow.table(rows))


def read_nanoarrow(path: str) -> str:
    with open(path, "rb") as file, nanoarrow.ipc.InputStream.from_readable(file) as stream:
        array = nanoarrow.Array(stream)
    columns = [(array.schema.field(i).name, ARROW_KINDS[array.schema.field(i).type.name.lower()]) for i in range(array.n_children)]
    return dumped(columns, array.iter_tuples())


def parsed(field: str, kind: str) -> object:
    """Python's reader does not tell a missing value from an empty text."""
    if field == "":
        return None
    return {"text": str, "float": float, "int": int}[kind](field)


def read_csv(path: str, columns: Columns) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    kinds = [kind for _, kind in columns]
    return dumped(
        list(zip(names, kinds, strict=True)),
        (map(parsed, row, kinds) for row in rows),
    )


JSON_KINDS = {"string": "text", "float64": "float", "int64": "int"}


def read_json(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        response = json.load(file)
    columns = [(column["name"], JSON_KINDS[column["dtype"]]) for column in response["columns"]]
    return dumped(columns, (map(of_kind, row, (kind for _, kind in columns)) for row in response["rows"]))


def of_kind(value: object, kind: str) -> object:
    """Numbers of JSON have no type: 3 may stand for 3.0."""
    return float(value) if kind == "float" and isinstance(value, int) else value


def read_json_with_duckdb(path: str, columns: Columns) -> str:
    cells = ", ".join(f"(one ->> {i})::{SQL_TYPES[kind]} AS {name}" for i, (name, kind) in enumerate(columns))
    rows = f"SELECT unnest(rows) AS one FROM read_json('{path}', columns = {{rows: 'JSON[]'}}, maximum_object_size = 1000000000)"
    return duckdb_relation(duckdb.sql(f"SELECT {cells} FROM ({rows})"))


READERS: dict[str, Callable[[str, Columns], str]] = {
    "pyarrow.arrow": lambda path, _: arrow_table(pyarrow.ipc.open_stream(path).read_all()),
    "polars.arrow": lambda path, _: polars_frame(polars.read_ipc_stream(path)),
    "nanoarrow.arrow": lambda path, _: read_nanoarrow(path),
    "duckdb.arrow": lambda path, _: duckdb_relation(duckdb.from_arrow(pyarrow.ipc.open_stream(path))),
    "pyarrow.parquet": lambda path, _: arrow_table(pyarrow.parquet.read_table(path)),
    "polars.parquet": lambda path, _: polars_frame(polars.read_parquet(path)),
    "duckdb.parquet": lambda path, _: duckdb_relation(duckdb.read_parquet(path)),
    "datafusion.parquet": lambda path, _: with_datafusion(
        lambda context: context.read_parquet(path, file_extension="")
    ),
    "deltalake.parquet": lambda path, _: as_delta_table(path),
    "fastparquet.parquet": lambda path, _: pandas_frame(fastparquet.ParquetFile(path).to_pandas()),
    "pandas.parquet": lambda path, _: pandas_frame(pandas.read_parquet(path)),
    "python.csv": read_csv,
    "pandas.csv": lambda path, columns: pandas_frame(
        pandas.read_csv(path, dtype=types(columns, PANDAS_TYPES), keep_default_na=False, na_values=[""])
    ),
    "polars.csv": lambda path, columns: polars_frame(
        polars.read_csv(path, schema_overrides=types(columns, POLARS_TYPES))
    ),
    "duckdb.csv": lambda path, columns: duckdb_relation(
        duckdb.read_csv(path, header=True, dtype=types(columns, SQL_TYPES), allow_quoted_nulls=len(columns) == 1)
    ),
    "pyarrow.csv": lambda path, columns: arrow_table(
        pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types(columns, ARROW_TYPES),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=len(columns) == 1,
            ),
        )
    ),
    "datafusion.csv": lambda path, columns: with_datafusion(
        lambda context: context.read_csv(
            path,
            options=datafusion.CsvReadOptions(
                file_extension="", schema=arrow_schema(columns), newlines_in_values=True
            ),
        )
    ),
    "python.json": lambda path, _: read_json(path),
    "duckdb.json": read_json_with_duckdb,
    "pandas.ndjson": lambda path, columns: pandas_frame(
        pandas.read_json(path, lines=True, dtype=types(columns, PANDAS_TYPES), precise_float=True)
    ),
    "polars.ndjson": lambda path, columns: polars_frame(
        polars.read_ndjson(path, schema=types(columns, POLARS_TYPES))
    ),
    "duckdb.ndjson": lambda path, columns: duckdb_relation(
        duckdb.read_json(path, format="newline_delimited", columns=types(columns, SQL_TYPES))
    ),
    "pyarrow.ndjson": lambda path, columns: arrow_table(
        pyarrow.json.read_json(
            path, parse_options=pyarrow.json.ParseOptions(explicit_schema=arrow_schema(columns))
        )
    ),
    "datafusion.ndjson": lambda path, columns: with_datafusion(
        lambda context: context.read_json(path, file_extension="", schema=arrow_schema(columns))
    ),
}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as tasks:
        for line in tasks:
            reader, path, output, *fields = line.rstrip("\n").split("\t")
            columns = [(name, kind) for name, _, kind in (field.partition(":") for field in fields)]
            try:
                dump = READERS[reader](path, columns)
            except Exception as error:  # noqa: BLE001 - whatever a reader says is shown
                dump = f"refused: {type(error).__name__}: {error}"
            with open(output, "w", encoding="utf-8") as file:
                file.write(dump)


main()
