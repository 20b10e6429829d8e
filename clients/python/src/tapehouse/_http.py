"""One request at a time: what is a failure, what may be tried again, and when a body is whole."""

from __future__ import annotations

import hashlib
import json
import random
import time
from typing import Any, Mapping, NoReturn, Optional, Union

import requests
import urllib3

from ._connection import Adapter
from ._errors import ConnectionFailed, IncompleteAnswer, TapehouseError, readable
from ._problem import problem_of

#: Bytes of a body that is no success; of a JSON answer; and of one read, the largest of which is a record batch.
LONGEST_ERROR = 64 << 10
LONGEST_JSON = 64 << 20
LONGEST_READ = 2 << 30


class _Session(requests.Session):
    """Follows no redirect, so no other server gets the token. The library would also read the whole body of a redirect."""

    def get_redirect_target(self, resp: Any) -> None:
        return None


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
        #: Names the one who asks, without the token.
        self.identity = hashlib.sha256((token or "").encode()).hexdigest()
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._encoding = "gzip" if compress else "identity"
        self._verify = verify
        self._session = _Session()
        self._session.auth = _Bearer(token)
        self._session.headers["Accept-Encoding"] = self._encoding
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, Adapter(pool_maxsize=64))

    def get(self, path: str, params: Mapping[str, str], headers: Optional[Mapping[str, str]] = None) -> "Body":
        """One attempt. Status 200, or 304 where ``If-None-Match`` asked for it; anything else is raised."""
        asked = dict(headers or {})
        try:
            # As an argument, since `requests` prefers an authority of the environment to that of the session.
            response = self._session.get(
                self.url + path,
                params=dict(params),
                headers=asked,
                timeout=self._timeout,
                stream=True,
                verify=None if self._verify is True else self._verify,
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self._failure(error) from error
        body = Body(response, self._encoding)
        if response.status_code == 200 or (response.status_code == 304 and "If-None-Match" in asked):
            return body
        with body:
            raise problem_of(response.status_code, response.reason, response.headers, body.of_error())

    def _failure(self, error: Exception) -> ConnectionFailed:
        is_trust = isinstance(error, requests.exceptions.SSLError)
        lacking = "trusted connection to" if is_trust else "answer from"
        failed = ConnectionFailed(f"no {lacking} {self.url}: {readable(error)}")
        # What `requests` calls a ValueError, such as a malformed URL, stays as it is.
        is_of_network = isinstance(error, (requests.RequestException, urllib3.exceptions.HTTPError))
        failed.passing = is_of_network and not is_trust and not isinstance(error, ValueError)
        return failed

    def json(self, path: str, params: Mapping[str, str]) -> Any:
        """The whole of a JSON answer, asked for again where that can help."""
        retry = self.retry()
        while True:
            try:
                with self.get(path, params) as body:
                    return body.json()
            except TapehouseError as error:
                retry.after(error)

    def retry(self) -> "Retry":
        return Retry(self._retries, self._backoff, self._longest_wait)

    def close(self) -> None:
        self._session.close()


class Body:
    """The bytes of an answer as a file. Reading raises IncompleteAnswer where the connection ends before the body does."""

    def __init__(self, response: requests.Response, encoding: str) -> None:
        self.headers = response.headers
        self.status = response.status_code
        #: Whether somebody wanted to read beyond the last byte.
        self.overrun = False
        self.closed = False
        self._response = response
        self._encoding = encoding

    def expect(self, media_type: str) -> None:
        """Raises where something else came than was asked for, as from a portal that wants a login first."""
        came = self.headers.get("Content-Type", "no content type")
        if came.split(";")[0].strip().lower() != media_type:
            raise TapehouseError(f"this is no answer of Tapehouse: {readable(came)!r} instead of {media_type!r}")
        if not self._is_decodable():
            packed = readable(self.headers["Content-Encoding"])
            raise TapehouseError(f"the answer has the encoding {packed!r}, which was not asked for")

    def json(self) -> "dict[str, Any]":
        """The object that the body is."""
        self.expect("application/json")
        text = self.read(LONGEST_JSON)
        if self.read(1):
            raise TapehouseError(f"the answer is longer than {LONGEST_JSON} bytes")
        try:
            found = json.loads(text, parse_constant=_no_json)
        except (ValueError, RecursionError) as error:
            raise IncompleteAnswer(f"the answer was cut or is no JSON: {readable(error)}") from error
        if not isinstance(found, dict):
            raise TapehouseError("this is no answer of Tapehouse: it is no object")
        return found

    def of_error(self) -> bytes:
        """The beginning of a body that explains an error; empty where it cannot be read."""
        try:
            return self.read(LONGEST_ERROR) if self._is_decodable() else b""
        except IncompleteAnswer:
            return b""

    def _is_decodable(self) -> bool:
        return self.headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity", self._encoding)

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer only at the end."""
        if not 0 <= size <= LONGEST_READ:
            raise IncompleteAnswer(f"the answer has a part of {size} bytes, which is too long to be true")
        pieces = []
        left = size
        while left > 0:
            piece = self._piece(left)
            if not piece:
                self.overrun = True
                break
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        try:
            return bytes(self._response.raw.read(size, decode_content=True))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise IncompleteAnswer(f"the answer was cut: {readable(error)}") from error

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
        if token and not (token.isascii() and token.isprintable()):
            raise ValueError("the token holds a character that no token has, perhaps a line break at its end")
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
