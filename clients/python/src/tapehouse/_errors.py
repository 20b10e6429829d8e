"""The exceptions of the client."""

from __future__ import annotations

from typing import Optional, Sequence


#: Maximum characters of text from a server or a library that are shown.
LONGEST_TEXT = 2_000


def readable(text: object) -> str:
    """Text of unknown origin, safe to show in a terminal."""
    return "".join(one if one.isprintable() else " " for one in str(text)[:LONGEST_TEXT]).strip()


class TapehouseError(Exception):
    """The base class of all errors of this package."""

    #: Seconds that the server asked to wait, if it did.
    retry_after: Optional[float] = None
    #: Whether a retry may help.
    passing: bool = False


class ConnectionFailed(TapehouseError):
    """The server could not be reached, or closed the connection before a response began."""

    passing = True


class IncompleteAnswer(TapehouseError):
    """A response was cut off. Its rows are incomplete."""

    passing = True


class ProblemError(TapehouseError):
    """The server refused the request. ``code`` is stable; the texts are for people."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        parameter: Optional[str] = None,
        allowed: Sequence[str] = (),
        hint: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
    ) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        #: The parameter that caused the problem.
        self.parameter = parameter
        #: Accepted values.
        self.allowed = tuple(allowed)
        #: How to fix it.
        self.hint = hint
        #: Identifies the request in the server's log.
        self.request_id = request_id
        #: Where in a statement of SQL, both counted from 1.
        self.line = line
        self.column = column
        self.retry_after = retry_after
        self.passing = status in (429, 503)
        super().__init__(f"{code}: {detail}" + (f" ({hint})" if hint else ""))
