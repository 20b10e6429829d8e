"""Rows of an entity: read as a stream, complete or not at all, and returned as pandas, polars or Arrow."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, Optional

import pyarrow as pa

from ._cache import Cache, Kept
from ._errors import IncompleteAnswer, TapehouseError, readable
from ._http import Body, Transport

if TYPE_CHECKING:
    import pandas
    import polars

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
_TYPES = {"string": pa.string(), "float64": pa.float64(), "int64": pa.int64()}


class Rows:
    """Rows in several forms."""

    def _stream(self) -> Iterator[Any]:
        """Record batches. The first one has no rows and only defines the columns."""
        raise NotImplementedError

    def _table(self) -> Any:
        raise NotImplementedError

    def batches(self) -> Iterator[Any]:
        """Arrow record batches as they arrive, in constant memory. Each call sends a new request."""
        return (batch for batch in self._stream() if batch.num_rows > 0)

    def reader(self) -> Any:
        """A ``pyarrow.RecordBatchReader`` of the same rows, which DuckDB and others read as a stream."""
        stream = self._stream()
        return pa.RecordBatchReader.from_batches(next(stream).schema, stream)

    def arrow(self) -> Any:
        """A ``pyarrow.Table``."""
        return self._table()

    def pandas(self, **options: Any) -> "pandas.DataFrame":
        """A ``pandas.DataFrame``, with days as ``datetime64``; ``options`` are passed to ``pyarrow.Table.to_pandas``."""
        frame: "pandas.DataFrame" = self.arrow().to_pandas(**{"date_as_object": False, **options})
        return frame

    def polars(self) -> "polars.DataFrame":
        """A ``polars.DataFrame``, with days as ``Date``."""
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Lets DuckDB, polars and others read the rows directly."""
        return self.reader().__arrow_c_stream__(requested_schema)


@dataclasses.dataclass(frozen=True)
class Source:
    """The parts of a client that its answers use."""

    transport: Transport
    cache: Optional[Cache]
    #: How days are returned unless a request says otherwise: ``date`` or ``text``.
    dates: str


class Answer(Rows):
    """The rows of one request, which is sent when they are read."""

    def __init__(
        self, source: Source, entity: str, params: Mapping[str, Any], dates: frozenset[str], types: Mapping[str, str]
    ) -> None:
        self.entity = entity
        self.params = dict(params)
        #: The version that was read; None before reading.
        self.data_version: Optional[str] = None
        #: The cursor of the next page; None if there is none, and before reading.
        self.next_cursor: Optional[str] = None
        self._source = source
        #: Columns of days.
        self._dates = dates if params.get("dates") == "date" else frozenset()
        #: The parameter that names the version.
        self._version_parameter = "data_version"
        #: Column → ``string``, ``float64`` or ``int64``; empty if the entity is unknown.
        self._types = types
        self._path = f"/api/v1/entities/{entity}"
        self._kept: Any = None

    @property
    def truncated(self) -> bool:
        """Whether ``limit`` truncated the response. Known after reading."""
        return self.next_cursor is not None

    def _table(self) -> Any:
        if self._kept is None:
            cache = self._source.cache
            self._kept = pa.Table.from_batches(self._whole(None, {})) if cache is None else self._through(cache)
        return self._kept

    def _through(self, cache: Cache) -> Any:
        """The cached table if it is current, otherwise a new one, which is cached."""
        transport = self._source.transport
        key = repr((transport.url, transport.identity, self.entity, sorted(self.params.items())))
        kept = cache.get(key)
        head: dict[str, str] = {}
        batches = self._whole(kept.etag if kept else None, head)
        if kept and not batches:
            return kept.table
        table = pa.Table.from_batches(batches)
        # A cached cursor could outlive its version, so pages are not cached.
        if "ETag" in head and not self.truncated:
            cache.put(key, Kept(head["ETag"], table))
        return table

    def _stream(self) -> Iterator[Any]:
        return self._read(None, {})

    def _whole(self, etag: Optional[str], head: dict[str, str]) -> List[Any]:
        """All batches at once; none if ``etag`` is current."""
        return list(self._read(etag, head))

    def _read(self, etag: Optional[str], head: dict[str, str]) -> Iterator[Any]:
        """
        All batches; none if ``etag`` is current. A response that was cut off is requested again in the same version,
        and rows that were already returned are skipped. If the server truncates every response to a limit of its own, the
        rest is requested too.
        """
        retry = self._source.transport.retry()
        params = self.params
        schema: Any = None
        done = 0
        while True:
            try:
                for batch in self._attempt(params, etag, head, skip=done):
                    schema = self._checked(batch.schema, schema)
                    yield batch
                    done += batch.num_rows
                    if batch.num_rows > 0:
                        retry.progress()
            except TapehouseError as error:
                retry.after(error)
                if self.data_version and "cursor" not in params:
                    params = {**params, self._version_parameter: self.data_version}
                continue
            if self.next_cursor is None or "limit" in params:
                return
            if done == 0 or self.next_cursor == params.get("cursor"):
                raise TapehouseError("not a Tapehouse response: its cursor does not advance")
            params = {**params, "cursor": self.next_cursor}
            etag, done = None, 0

    def _attempt(self, params: Mapping[str, Any], etag: Optional[str], head: dict[str, str], skip: int) -> Iterator[Any]:
        headers = {"Accept": MEDIA_TYPE, **({"If-None-Match": etag} if etag else {})}
        with self._request(params, headers) as body:
            version = body.headers.get("X-Data-Version", self.data_version)
            if version != self.data_version and (skip > 0 or "cursor" in params) and self.data_version is not None:
                raise TapehouseError(f"the server continued with a version other than {readable(self.data_version)}")
            self.data_version = version
            if body.status == 304:
                body.read(1)
                return
            self._begin(body.headers)
            if "cursor" not in params and "ETag" in body.headers:
                head["ETag"] = body.headers["ETag"]
            for batch in _record_batches(body):
                left = batch.slice(min(skip, batch.num_rows))
                skip -= batch.num_rows - left.num_rows
                if left.num_rows > 0 or batch.num_rows == 0:
                    yield left

    def _request(self, params: Mapping[str, Any], headers: Mapping[str, str]) -> Body:
        return self._source.transport.rows(self._path, params, headers)

    def _begin(self, headers: Mapping[str, str]) -> None:
        """Reads the headers of a response with rows."""
        self.next_cursor = headers.get("X-Next-Cursor")

    def _checked(self, schema: Any, before: Any) -> Any:
        """The schema of a batch. Raises if it differs from earlier batches or from the request."""
        if before is not None:
            if schema is not before and not schema.equals(before):
                raise TapehouseError("the server continued with other columns")
            return before
        asked = self.params.get("fields")
        wanted = {name.strip() for name in asked.split(",")} if asked else set(self._types)
        missing = sorted(wanted.difference(schema.names))
        types = [self._type_of(field) for field in schema]
        other = [field.name for field, type in zip(schema, types) if not field.type.equals(type)]
        if missing or other or len(set(schema.names)) < len(schema.names):
            fault = f"the columns {missing} are missing" if missing else f"columns of another type or repeated: {other}"
            raise TapehouseError(f"not a Tapehouse response for {self.entity}: {readable(fault)}")
        return schema

    def _type_of(self, field: Any) -> Any:
        """The type that a column must have: its own if the entity is unknown."""
        return pa.date32() if field.name in self._dates else _TYPES.get(self._types.get(field.name, ""), field.type)


class Changes(Answer):
    """What differs between two versions of an entity: its parameter ``to`` names the version that is read."""

    def __init__(self, source: Source, entity: str, params: Mapping[str, str], dates: frozenset[str]) -> None:
        types = dict.fromkeys(("change", "column", "before", "after"), "string")
        super().__init__(source, f"{entity}/changes", params, dates, types)
        self._version_parameter = "to"


class Panel(Answer):
    """Columns of several entities for each stock and trading day, as they were known at the close."""

    def __init__(self, source: Source, params: Mapping[str, str], dates: frozenset[str], types: Mapping[str, str]) -> None:
        super().__init__(source, "panel", params, dates, types)
        self._path = "/api/v1/panel"


def _record_batches(body: Body) -> Iterator[Any]:
    """An empty batch, then those of the stream. Raises IncompleteAnswer unless both Arrow and HTTP mark its end."""
    body.expect(MEDIA_TYPE)
    try:
        reader = pa.ipc.open_stream(body)
        schema = reader.schema
        columns = [pa.array([], schema.field(i).type) for i, _ in enumerate(schema.names)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        for batch in reader:
            # Invalid bytes could make a reader of the batch access memory outside of it.
            batch.validate(full=True)
            yield batch
    except (pa.ArrowException, OSError, ValueError) as error:
        raise IncompleteAnswer(f"the response was cut off: {readable(error)}") from error
    if body.overrun:
        raise IncompleteAnswer("the response was cut off: the end of the stream is missing")
    if body.read(1):
        raise IncompleteAnswer("the response continues after its end")
