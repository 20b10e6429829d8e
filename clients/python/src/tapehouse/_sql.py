"""SQL: the values of parameters, and the rows of one statement."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Union

import pyarrow as pa

from ._answer import Answer, Source
from ._errors import ProblemError, TapehouseError
from ._http import Body
from ._values import day

_Scalar = Union[None, str, bool, int, float, decimal.Decimal, datetime.date]
#: A value of a parameter. Values of numpy, pandas, polars and pyarrow are accepted too.
SqlValue = Union[_Scalar, Iterable[Union[str, int, float, decimal.Decimal, datetime.date]], Any]

#: JSON has no other whole numbers that everyone reads alike.
_LARGEST = 1 << 53

_TYPES = (pa.string(), pa.int64(), pa.float64())


class SqlAnswer(Answer):
    """
    The rows of one statement. Their order may differ from run to run unless the statement orders them, so a response
    that is cut off is requested again as a whole, or, if rows of it were already returned, is an error.
    """

    def __init__(self, source: Source, content: Mapping[str, Any]) -> None:
        super().__init__(source, "sql", content, frozenset(), {})
        self._path = "/api/v1/sql"
        self._is_truncated = False

    @property
    def truncated(self) -> bool:
        """Whether ``limit`` truncated the result. Known after reading."""
        return self._is_truncated

    def _request(self, params: Mapping[str, Any], headers: Mapping[str, str]) -> Body:
        return self._source.transport.post(self._path, params, headers)

    def _begin(self, headers: Mapping[str, str]) -> None:
        self._is_truncated = headers.get("X-Truncated") == "true"
        if self._is_truncated and "limit" not in self.params:
            raise TapehouseError(
                "this server limits results, and the statement has more rows: set a limit= to accept fewer, "
                "or read rows with the method of their entity"
            )

    def _whole(self, etag: Optional[str], head: dict[str, str]) -> List[Any]:
        return list(self._batches(etag, head, is_whole=True))

    def _read(self, etag: Optional[str], head: dict[str, str]) -> Iterator[Any]:
        return self._batches(etag, head, is_whole=False)

    def _batches(self, etag: Optional[str], head: dict[str, str], *, is_whole: bool) -> Iterator[Any]:
        """Batches as they arrive, or with ``is_whole`` only once all have arrived; none if ``etag`` is current."""
        retry = self._source.transport.retry()
        schema: Any = None
        done = 0
        while True:
            try:
                batches = self._attempt(self.params, etag, head, skip=0)
                for batch in list(batches) if is_whole else batches:
                    schema = self._checked(batch.schema, schema)
                    yield batch
                    done += batch.num_rows
                return
            except TapehouseError as error:
                if done > 0 or (isinstance(error, ProblemError) and error.code == "out_of_room"):
                    raise
                retry.after(error)

    def _type_of(self, field: Any) -> Any:
        """Results have four types."""
        known = (*_TYPES, pa.date32()) if self.params.get("dates") == "date" else _TYPES
        return field.type if field.type in known else pa.string()


def sql_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """The values of parameters as JSON has them, by name, with days as ``YYYY-MM-DD``. Raises TypeError or ValueError."""
    if not isinstance(params, Mapping):
        raise TypeError(f'params is {_type_name(params)}: use a dict such as {{"from": "20240101"}}')
    return {name: _value(name, value) for name, value in params.items()}


def _value(name: str, value: Any) -> Any:
    value = _plain(value)
    if not hasattr(value, "__iter__") or isinstance(value, (str, bytes, bytearray, Mapping)):
        return _scalar(name, value)
    items = [_scalar(name, _plain(item)) for item in value]
    if any(item is None or isinstance(item, bool) for item in items) or len({isinstance(item, str) for item in items}) > 1:
        raise TypeError(f"params: the list {name} must have only texts, only numbers or only days")
    return items


def _plain(value: Any) -> Any:
    """A value of numpy or pyarrow as one of Python; days of numpy stay as they are."""
    if hasattr(value, "as_py"):
        return value.as_py()
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "dtype")
    return value.item() if is_scalar and value.dtype.kind != "M" else value


def _scalar(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, datetime.date) or getattr(getattr(value, "dtype", None), "kind", "") == "M":
        return _day(name, value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        if abs(whole) > _LARGEST:
            raise ValueError(f"params: {name} is beyond ±2^53; send it as text and cast it: ${name}::HUGEINT")
        return whole
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        if not math.isfinite(value):
            raise ValueError(f"params: {name} is not a finite number; None is a missing value")
        return float(value)
    raise TypeError(
        f"params: {name} is {_type_name(value)}: use text, numbers, booleans, days, None, or lists of texts, numbers or days"
    )


def _day(name: str, value: Any) -> str:
    try:
        text = day(value)
    except ValueError:
        raise ValueError(f"params: {name} is not a day; None is a missing value") from None
    return f"{text[:4]}-{text[4:6]}-{text[6:]}"


def _type_name(value: Any) -> str:
    return f"of type {type(value).__name__}"
