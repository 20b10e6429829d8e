"""One request at a time: what is a failure, what may be tried again, and when a body is whole."""

from __future__ import annotations

import email.utils
import json
import random
import time
from typing import Any, Mapping, Optional, Union

import requests
import urllib3
from requests.adapters import HTTPAdapter

from ._errors import ConnectionFailed, IncompleteAnswer, ProblemError, TapehouseError


class Transport:
    """The way to one server. Threads may share it."""

    def __init__(
        self,
        url: str,
        token: Optional[str],
        *,
        timeout: float,
        retries: int,
        backoff: float,
        longest_wait: float,
        compress: bool,
        verify: Union[bool, str],
    ) -> None:
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._session = requests.Session()
        self._session.auth = _Bearer(token)
        self._session.verify = verify
        self._session.headers["Accept-Encoding"] = "gzip" if compress else "identity"
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=64))

    def get(self, path: str, params: Mapping[str, str], headers: Optional[Mapping[str, str]] = None) -> "Body":
        """One attempt. Status 200 or 304; anything else is raised."""
        try:
            response = self._session.get(
                self.url + path, params=dict(params), headers=dict(headers or {}), timeout=self._timeout, stream=True
            )
        except requests.exceptions.SSLError as error:
            failed = ConnectionFailed(f"no trusted connection to {self.url}: {error}")
            failed.passing = False
            raise failed from error
        except (requests.ConnectionError, requests.Timeout) as error:
            raise ConnectionFailed(f"no answer from {self.url}: {error}") from error
        body = Body(response)
        if response.status_code in (200, 304):
            return body
        with body:
            raise _problem(response, body)

    def json(self, path: str, params: Mapping[str, str]) -> Any:
        """The whole of a JSON answer, asked for again where that can help."""
        retry = self.retry()
        while True:
            try:
                with self.get(path, params) as body:
                    return json.loads(body.read())
            except TapehouseError as error:
                retry.after(error)

    def retry(self) -> "Retry":
        return Retry(self._retries, self._backoff, self._longest_wait)

    def close(self) -> None:
        self._session.close()


class Body:
    """The bytes of an answer as a file. Reading raises IncompleteAnswer where the connection ends before the body does."""

    def __init__(self, response: requests.Response) -> None:
        self.headers = response.headers
        self.status = response.status_code
        #: Whether somebody wanted to read beyond the last byte.
        self.overrun = False
        self.closed = False
        self._response = response

    def read(self, size: int = -1) -> bytes:
        """``size`` bytes, fewer only at the end; all that are left where it is negative."""
        pieces = []
        left = size
        while left != 0:
            piece = self._piece(left if left > 0 else 1 << 20)
            if not piece:
                self.overrun = left > 0
                break
            pieces.append(piece)
            left -= len(piece) if left > 0 else 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        try:
            return bytes(self._response.raw.read(size, decode_content=True))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise IncompleteAnswer(f"the answer was cut: {error}") from error

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True
        self._response.close()

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Retry:
    """Waits after failures, longer each time, until there were too many in a row."""

    def __init__(self, retries: int, backoff: float, longest_wait: float) -> None:
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._failures = 0

    def progress(self) -> None:
        """Something came: count anew."""
        self._failures = 0

    def after(self, error: TapehouseError) -> None:
        """Returns when it is time to ask again; raises ``error`` where that would not help."""
        asked = error.retry_after or 0.0
        if not error.passing or self._failures >= self._retries or asked > self._longest_wait:
            raise error
        own = min(self._backoff * 2**self._failures, self._longest_wait) * random.uniform(0.5, 1.0)
        self._failures += 1
        time.sleep(max(asked, own))


class _Bearer(requests.auth.AuthBase):
    """The token as an auth object: a header alone would lose against an entry in ``.netrc``."""

    def __init__(self, token: Optional[str]) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _problem(response: requests.Response, body: Body) -> TapehouseError:
    """The problem document of an answer, or what can be said without one (a proxy may have answered)."""
    try:
        told = json.loads(body.read())
    except (ValueError, TapehouseError):
        told = {}
    if not isinstance(told, dict):
        told = {}
    return ProblemError(
        status=response.status_code,
        code=told.get("code", f"http_{response.status_code}"),
        detail=told.get("detail", response.reason or "no reason given"),
        parameter=told.get("parameter"),
        allowed=told.get("allowed", ()),
        hint=told.get("hint"),
        request_id=response.headers.get("X-Request-Id"),
        retry_after=_seconds(response.headers.get("Retry-After")),
    )


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    """``Retry-After`` is seconds or a date."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
