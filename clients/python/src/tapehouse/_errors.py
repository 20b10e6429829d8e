"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Optional, Sequence


#: Characters of what a server or a library says that are shown.
LONGEST_TEXT = 2_000


def readable(text: object) -> str:
    """A text of unknown origin as it may be shown in a terminal."""
    return "".join(one if one.isprintable() else " " for one in str(text)[:LONGEST_TEXT]).strip()


class TapehouseError(Exception):
    """The root of all errors of this package."""

    #: Seconds that the server asked to wait, where it did.
    retry_after: Optional[float] = None
    #: Whether asking again can help.
    passing: bool = False


class ConnectionFailed(TapehouseError):
    """The server could not be reached, or left before an answer began."""

    passing = True


class IncompleteAnswer(TapehouseError):
    """An answer was cut before its end. None of its rows may be taken for the whole."""

    passing = True


class ProblemError(TapehouseError):
    """The server said no. ``code`` is stable; the texts are for people."""

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
    ) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        #: The parameter at fault.
        self.parameter = parameter
        #: What would be accepted.
        self.allowed = tuple(allowed)
        #: The way out.
        self.hint = hint
        #: Names the request in the log of the server.
        self.request_id = request_id
        self.retry_after = retry_after
        self.passing = status in (429, 503)
        super().__init__(f"{code}: {detail}" + (f" ({hint})" if hint else ""))
