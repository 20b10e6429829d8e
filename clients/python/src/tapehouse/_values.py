"""Python values as the text of parameters."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

#: As a filter: rows without a value.
NULL = "null"

#: A day: ``20240105``, ``"20240105"``, ``"2024-01-05"``, a date, a datetime, a pandas Timestamp or a numpy datetime64.
Day = Union[str, int, datetime.date, Any]
Days = Union[Day, Iterable[Day]]
#: One text, or several. A plain ``str`` may contain several, separated by commas.
Texts = Union[str, Iterable[str]]
Ints = Union[int, Iterable[int], str]

#: A time with a time zone is the day that it is in China.
_CHINA = datetime.timezone(datetime.timedelta(hours=8))

#: Parameters that are days in every request.
DAYS = frozenset({"start_date", "end_date", "as_of", "as_of_start", "as_of_end", "date", "snapshot_date"})


def query(params: Mapping[str, Any], dates: Iterable[str] = ()) -> dict[str, str]:
    """The parameters that are set, as text. ``dates`` are names of further parameters that are days."""
    days = DAYS.union(dates)
    return {
        name: (days_of if name in days else _texts)(value if name in _ORDERED else _distinct(value))
        for name, value in params.items()
        if value is not None
    }


#: Lists whose order counts. In all others a value may be repeated, and is sent once.
_ORDERED = frozenset({"fields", "entities"})


def _distinct(value: Any) -> Any:
    return list(dict.fromkeys(value)) if _is_list(value) else value


def repeatable(params: Mapping[str, Any]) -> dict[str, Any]:
    """The same parameters for several requests: what can be iterated once only becomes a list."""
    return {name: list(value) if hasattr(value, "__next__") else value for name, value in params.items()}


def day(value: Day) -> str:
    """``YYYYMMDD``, or the text itself, which the server interprets."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(_CHINA)
    if isinstance(value, bool) or isinstance(value, float):
        raise TypeError(f"{value!r} is not a day: use 20240105, '2024-01-05', a date or a Timestamp")
    text = str(value)[:10].replace("-", "")
    if len(text) != 8 or not text.isdigit():
        raise ValueError(f"{value!r} is not a day: use 20240105, '2024-01-05', a date or a Timestamp")
    return text


def days_of(value: Days) -> str:
    """One day or several, separated by commas."""
    return ",".join(day(one) for one in value) if _is_list(value) else day(value)


def _texts(value: Any) -> str:
    """Items of a list that contain a comma are quoted. Text that is not in a list is sent as it is."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(_quoted(str(item)) for item in value) if _is_list(value) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if "," in text else text


def _is_list(value: Any) -> "TypeGuard[Iterable[Any]]":
    return hasattr(value, "__iter__") and not isinstance(value, str)
