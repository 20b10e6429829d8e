"""Error responses, from Tapehouse or a proxy, as exceptions."""

from __future__ import annotations

import email.utils
import json
import time
from typing import Any, Mapping, Optional, Tuple

from ._errors import ProblemError, readable

#: Maximum number of accepted values that are kept.
MOST_ALLOWED = 1_000


def problem_of(status: int, reason: Optional[str], headers: Mapping[str, str], body: bytes) -> ProblemError:
    """The problem document of a response, or a substitute if there is none, e.g. from a proxy."""
    found = _document(body)
    return ProblemError(
        status=status,
        code=_text(found.get("code")) or f"http_{status}",
        detail=_text(found.get("detail")) or _detail(status, reason, headers),
        parameter=_text(found.get("parameter")),
        allowed=_texts(found.get("allowed")),
        hint=_text(found.get("hint")) or _hint(status),
        request_id=_text(headers.get("X-Request-Id")),
        retry_after=_seconds(headers.get("Retry-After")),
        line=_count(found.get("line")),
        column=_count(found.get("column")),
    )


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_redirect(status: int) -> bool:
    return 300 <= status < 400 and status != 304


def _detail(status: int, reason: Optional[str], headers: Mapping[str, str]) -> str:
    if _is_redirect(status):
        return f"the server redirects to {_text(headers.get('Location'))!r}, which is not followed"
    return _text(reason) or "no reason given"


def _hint(status: int) -> Optional[str]:
    return "create the client with the final URL" if _is_redirect(status) else None


def _text(value: Any) -> Optional[str]:
    return readable(value) if isinstance(value, str) else None


def _count(value: Any) -> Optional[int]:
    return value if type(value) is int and 0 < value < 1 << 53 else None


def _texts(values: Any) -> Tuple[str, ...]:
    if not isinstance(values, list):
        return ()
    return tuple(text for text in map(_text, values[:MOST_ALLOWED]) if text is not None)


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    """``Retry-After``, in seconds or as a date, in seconds."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
