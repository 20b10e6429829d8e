"""The client: entities, calendar, gaps and versions of one server."""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator, List, Literal, Mapping, Optional, TypedDict, Union, cast, overload

from ._answer import Answer, Changes, Panel, Source
from ._cache import Cache, open_cache
from ._entities import ENTITIES, EntityMethods
from ._errors import TapehouseError
from ._http import Transport
from ._sql import SqlAnswer, SqlValue, sql_values
from ._values import Day, Days, Texts, days_of, query, repeatable

CalendarDay = TypedDict("CalendarDay", {"exchange": str, "cal_date": str, "is_open": int})
_Gap = TypedDict("_Gap", {"entity": str, "ts_code": Optional[str], "gap_start": str, "gap_end": str, "kind": str})


class Gap(_Gap, total=False):
    """Days without rows; ``reason`` only if excused gaps were requested."""

    reason: str


ColumnStatistics = TypedDict(
    "ColumnStatistics",
    {
        "name": str,
        "nulls": int,
        "distinct": int,
        "min": Union[None, str, float],
        "max": Union[None, str, float],
        "last": Optional[str],
    },
)
Statistics = TypedDict(
    "Statistics", {"entity": str, "data_version": str, "rows": int, "columns": List[ColumnStatistics]}
)


class Client(EntityMethods):
    """
    A client of one Tapehouse server. Threads may share it.

    Every entity is a method: ``client.daily(ts_code="600519.SH", start_date=20240101).pandas()``.

    :param url: of the server; default: ``TAPEHOUSE_URL``, then ``http://127.0.0.1:8080``
    :param token: default: ``TAPEHOUSE_TOKEN``
    :param dates: return days as dates, or with ``"text"`` as ``YYYYMMDD`` text; a request can say otherwise
    :param cache: cache complete responses and revalidate them: True in memory, a path in that folder
    :param timeout: seconds without a byte after which a connection is abandoned; five times as long for a very slow one
    :param retries: consecutive failures after which it gives up: no connection, an incomplete response, 429 and 503
    :param backoff: seconds before the first retry; doubled each time, or as ``Retry-After`` says
    :param longest_wait: seconds; if a server asks for a longer wait, the request fails
    :param compress: request gzip, for slow networks; a request can ask for ``compression="zstd"`` instead
    :param verify: as in ``requests``: whether to check the certificate, or the path of a CA file
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        dates: Literal["date", "text"] = "date",
        cache: Union[None, bool, str, "os.PathLike[str]", Cache] = None,
        timeout: float = 120.0,
        retries: int = 6,
        backoff: float = 0.25,
        longest_wait: float = 60.0,
        compress: bool = False,
        verify: Union[bool, str] = True,
    ) -> None:
        transport = Transport(
            url or os.environ.get("TAPEHOUSE_URL") or "http://127.0.0.1:8080",
            token or os.environ.get("TAPEHOUSE_TOKEN"),
            timeout=timeout,
            retries=retries,
            backoff=backoff,
            longest_wait=longest_wait,
            compress=compress,
            verify=verify,
        )
        if dates not in ("date", "text"):
            raise ValueError(f'dates is {dates!r}: use "date" or "text"')
        self._source = Source(transport, open_cache(cache), dates)
        self._owns = True
        #: The version of every read; None reads the current one.
        self.data_version: Optional[str] = None

    # Rows

    def read(self, entity: str, **params: Any) -> Answer:
        """Rows of the entity with this name; the parameters are those of its method."""
        known = ENTITIES.get(entity)
        columns = known.columns if known else ()
        dates = frozenset(column.name for column in columns if column.is_date) | {"as_of"}
        types = {column.name: column.dtype for column in columns}
        return Answer(self._source, entity, query(self._pinned(self._shown(params)), dates | {"period"}), dates, types)

    def pages(self, entity: str, *, limit: int, **params: Any) -> Iterator[Answer]:
        """Pages of at most ``limit`` rows, all of one version. Each is read when it is reached."""
        cursor: Optional[str] = params.pop("cursor", None)
        params = repeatable(params)
        while True:
            page = self.read(entity, limit=limit, cursor=cursor, **params)
            rows = page.arrow().num_rows
            yield page
            if page.next_cursor is None:
                return
            if rows == 0 or page.next_cursor == cursor:
                raise TapehouseError("not a Tapehouse response: its cursor does not advance")
            cursor = page.next_cursor

    @overload
    def panel(self, entities: str, days: Days, **params: Any) -> Answer: ...

    @overload
    def panel(
        self,
        entities: Texts,
        *,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        codes: Optional[Texts] = None,
        layout: Optional[Literal["wide", "long"]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        order: Optional[Literal["asc", "desc"]] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
    ) -> Answer: ...

    def panel(self, entities: Texts, days: Optional[Days] = None, **params: Any) -> Answer:
        """
        Values as they were known, on many days.

        ``panel(["daily:close", "income:total_revenue"], start_date=..., end_date=..., codes=...)`` has a row for each
        stock and trading day of the first entity, with each value as it was known at the close; a column is called
        ``entity.column``. ``layout="long"`` gives the columns ``field`` and ``value`` instead.

        ``panel("income", days)`` has the rows of one entity as of each of several days, in their order, with the day in
        the first column ``as_of``; the parameters are those of its method.
        """
        if days is None:
            return self._joined(entities, params)
        if not isinstance(entities, str):
            raise TypeError("with days, a panel is of one entity: give its name")
        for name in ("as_of", "as_of_days", "as_of_start", "as_of_end"):
            if params.get(name) is not None:
                raise TypeError(f"panel has its days already: leave {name} out")
        listed = days_of(days)
        if not listed:
            raise ValueError("a panel needs days")
        # A list of one day repeats it, so that it has the column too.
        return self.read(entities, as_of=listed if "," in listed else f"{listed},{listed}", **params)

    def _joined(self, entities: Texts, params: dict[str, Any]) -> Panel:
        asked = query(self._pinned({"entities": entities, **self._shown(params)}))
        types, dates = {"ts_code": "string", "trade_date": "string"}, {"trade_date"}
        if params.get("layout") == "long":
            types.update(field="string", value="float64")
        else:
            for item in asked["entities"].split(","):
                name, _, column = (part.strip() for part in item.partition(":"))
                for known in ENTITIES[name].columns if name in ENTITIES else ():
                    if known.name == column:
                        types[f"{name}.{column}"] = known.dtype
                        dates.update([f"{name}.{column}"] if known.is_date else [])
        return Panel(self._source, asked, frozenset(dates), types)

    def sql(
        self,
        statement: str,
        params: Optional[Mapping[str, SqlValue]] = None,
        *,
        limit: Optional[int] = None,
        data_version: Optional[str] = None,
        dates: Optional[Literal["text", "date"]] = None,
        compression: Optional[Literal["none", "zstd"]] = None,
        engine: Optional[Literal["auto", "local", "cluster"]] = None,
    ) -> SqlAnswer:
        """
        Rows of one ``SELECT`` over one version, in the SQL of DuckDB, in which every entity is a table:
        ``client.sql("SELECT ts_code, avg(close) AS close FROM daily WHERE trade_date >= $from GROUP BY 1", {"from": day})``.

        ``params`` are the values of parameters such as ``$from``: text, numbers, booleans, days, None, or lists of texts,
        numbers or days. Raises TypeError for any other value.
        """
        asked: dict[str, Any] = dict(limit=limit, data_version=data_version, compression=compression, engine=engine)
        asked = self._pinned(self._shown({**asked, "dates": dates}))
        content = {name: value for name, value in asked.items() if value is not None}
        return SqlAnswer(self._source, {"sql": statement, "params": sql_values(params or {}), **content})

    # Versions

    def pin(self) -> "Client":
        """A client that reads the version that is current now, or the version of this client."""
        return self.at(self.data_version or self.versions()[0])

    def at(self, data_version: str) -> "Client":
        """A client that reads this version. It shares the connections of this client."""
        pinned = Client.__new__(Client)
        pinned._source = self._source
        pinned._owns = False
        pinned.data_version = data_version
        return pinned

    def versions(self) -> List[str]:
        """The versions that can be read, newest first."""
        return cast(List[str], self._part("/api/v1/versions", {}, "versions", list))

    def changes(self, entity: str, from_: str, to: Optional[str] = None, **params: Any) -> Answer:
        """
        What differs between two versions of an entity: a row for each changed value, added row and removed row.

        ``to`` is by default the version of this client, or the current one. Of an added or removed row, ``after`` or
        ``before`` is the whole row as JSON. ``start_date``, ``end_date``, ``limit`` and filters by columns of the
        identity are accepted too.
        """
        known = ENTITIES.get(entity)
        dates = frozenset(column.name for column in known.columns if column.is_date) if known else frozenset()
        asked = query({**self._shown(params), "from": from_, "to": to or self.data_version}, dates | {"period"})
        return Changes(self._source, entity, asked, dates)

    # The rest of the API

    def calendar(
        self,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        *,
        is_open: Optional[int] = None,
        exchange: Optional[str] = None,
        data_version: Optional[str] = None,
    ) -> List[CalendarDay]:
        """Days of the calendar; ``is_open=1`` or ``0`` for only open or closed days."""
        params = dict(start_date=start_date, end_date=end_date, is_open=is_open, exchange=exchange)
        asked = self._pinned({**params, "data_version": data_version})
        return cast(List[CalendarDay], self._part("/api/v1/calendar", asked, "days", list))

    def trading_days(self, start_date: Optional[Day] = None, end_date: Optional[Day] = None) -> List[str]:
        """Open days as ``YYYYMMDD``."""
        return [one["cal_date"] for one in self.calendar(start_date, end_date, is_open=1)]

    def shift(self, date: Day, n: int, *, data_version: Optional[str] = None) -> str:
        """The n-th trading day after a trading day, or before it if ``n`` is negative."""
        params = self._pinned({"date": date, "n": n, "data_version": data_version})
        return cast(str, self._part("/api/v1/calendar/shift", params, "result", str))

    def gaps(
        self,
        entity: str,
        start_date: Optional[Day] = None,
        end_date: Optional[Day] = None,
        *,
        ts_code: Optional[str] = None,
        excused: Optional[bool] = None,
        data_version: Optional[str] = None,
    ) -> List[Gap]:
        """
        Intervals without rows. Check before a backtest that the list is empty.

        ``excused=True`` returns the gaps that the operator excused, with their reasons, instead of the others.
        """
        params = dict(start_date=start_date, end_date=end_date, ts_code=ts_code, excused=excused)
        params["data_version"] = data_version
        return cast(List[Gap], self._part(f"/api/v1/entities/{entity}/gaps", self._pinned(params), "gaps", list))

    def statistics(
        self,
        entity: str,
        fields: Union[None, str, Iterable[str]] = None,
        *,
        data_version: Optional[str] = None,
    ) -> Statistics:
        """
        What the columns of an entity hold, or only those in ``fields``: the number of rows, and for each column missing
        values, distinct values, the least and the greatest, and the last day with a value. Every number is exact.
        """
        params = self._pinned({"fields": fields, "data_version": data_version})
        return cast(Statistics, self._json(f"/api/v1/entities/{entity}/statistics", params))

    def meta(self) -> Any:
        """The catalog of the current version: every entity with its dates and number of rows."""
        return self._json("/api/v1/meta", {})

    def health(self) -> Any:
        """The state of the server and of each store. Needs no token."""
        return self._json("/health", {})

    def close(self) -> None:
        """Closes the connections; the connections of a pinned client belong to the client that created it."""
        if self._owns:
            self._source.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        version = f", data_version={self.data_version!r}" if self.data_version else ""
        return f"Client({self._source.transport.url!r}{version})"

    def _pinned(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with the version of this client."""
        if self.data_version is None:
            return params
        asked = params.get("data_version")
        if asked not in (None, self.data_version):
            raise ValueError(f"this client is pinned to data_version {self.data_version}; use client.at({asked!r})")
        return {**params, "data_version": self.data_version}

    def _shown(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters with the form of days. The client itself chooses the format."""
        if params.get("format") is not None:
            raise TypeError("rows always come as Arrow: use .pandas(), .polars(), .arrow() or .batches() instead of format")
        dates = params.get("dates") or self._source.dates
        return {**params, "dates": None if dates == "text" else dates}

    def _json(self, path: str, params: dict[str, Any]) -> Any:
        return self._source.transport.json(path, query(params))

    def _part(self, path: str, params: dict[str, Any], name: str, kind: type) -> Any:
        """One member of a JSON response."""
        part = self._json(path, params).get(name)
        if not isinstance(part, kind):
            raise TapehouseError(f"not a Tapehouse response: it has no {name}")
        return part
