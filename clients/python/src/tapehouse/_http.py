"""Requests: which responses are failures, which requests are retried, and when a body is complete."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
import zlib
from typing import Any, Mapping, NamedTuple, NoReturn, Optional, Union
from urllib.parse import unquote_to_bytes, urlencode

import requests
import urllib3

from ._connection import Adapter
from ._errors import ConnectionFailed, IncompleteAnswer, TapehouseError, readable
from ._problem import problem_of

#: Maximum characters of path and query: many proxies refuse URLs longer than 8 KB. Longer queries are sent as a body.
LONGEST_URL = 4096

#: Maximum bytes of an error's body; of a JSON response; and of one read, the largest of which is a record batch.
LONGEST_ERROR = 64 << 10
LONGEST_JSON = 64 << 20
LONGEST_READ = 2 << 30


class _Session(requests.Session):
    """Does not follow redirects, so that no other server receives the token."""

    def get_redirect_target(self, resp: Any) -> None:
        return None


class Transport:
    """The connections to one server. Threads may share it."""

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
        #: Identifies the user without revealing the token.
        self.identity = hashlib.sha256((token or "").encode()).hexdigest()
        self._timeout = timeout
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._encoding = "gzip" if compress else "identity"
        self._verify = verify
        self._auth = _Bearer(token)
        self._opened: Optional[_Opened] = None

    def _session(self) -> _Session:
        """
        The connections of this process. After a fork, the child gets its own: on a shared connection, one process would
        read the response to the other.
        """
        opened = self._opened
        if opened is None or opened.process != os.getpid():
            session = _Session()
            session.auth = self._auth
            session.headers["Accept-Encoding"] = self._encoding
            for scheme in ("http://", "https://"):
                session.mount(scheme, Adapter(pool_maxsize=64))
            opened = self._opened = _Opened(os.getpid(), session)
        return opened.session

    def __getstate__(self) -> "dict[str, Any]":
        """Includes the token, so a pickled client must be kept secret."""
        return {**self.__dict__, "_opened": None}

    def rows(self, path: str, params: Mapping[str, str], headers: Mapping[str, str]) -> "Body":
        """As ``get``, for rows: parameters that are too long for a URL are sent in the body."""
        if len(path) + len(urlencode(params, errors="replace")) < LONGEST_URL:
            return self.get(path, params, headers)
        return self.post(f"{path}/query", params, headers)

    def post(self, path: str, content: Mapping[str, Any], headers: Mapping[str, str]) -> "Body":
        """As ``get``, with a JSON object as the body."""
        body = json.dumps(content).encode()
        return self._send("POST", path, {**headers, "Content-Type": "application/json"}, data=body)

    def get(self, path: str, params: Mapping[str, str], headers: Optional[Mapping[str, str]] = None) -> "Body":
        """One attempt. Returns status 200, or 304 if ``If-None-Match`` was sent; raises on anything else."""
        return self._send("GET", path, dict(headers or {}), params=dict(params))

    def _send(self, method: str, path: str, asked: "dict[str, str]", **content: Any) -> "Body":
        try:
            # As an argument, because `requests` prefers a CA file of the environment to that of the session.
            response = self._session().request(
                method,
                self.url + path,
                **content,
                headers=asked,
                timeout=self._timeout,
                stream=True,
                verify=None if self._verify is True else self._verify,
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self._failure(error) from error
        body = Body(response, self._encoding)
        if not _is_answer_to(response, path):
            body.close()
            failed = ConnectionFailed(f"{self.url} sent the response to another request")
            failed.passing = True
            raise failed
        if response.status_code == 200 or (response.status_code == 304 and "If-None-Match" in asked):
            return body
        with body:
            raise problem_of(response.status_code, response.reason, response.headers, body.of_error())

    def _failure(self, error: Exception) -> ConnectionFailed:
        is_trust = isinstance(error, requests.exceptions.SSLError)
        lacking = "trusted connection to" if is_trust else "response from"
        failed = ConnectionFailed(f"no {lacking} {self.url}: {readable(error)}")
        # A ValueError of `requests`, such as a malformed URL, is permanent.
        is_of_network = isinstance(error, (requests.RequestException, urllib3.exceptions.HTTPError))
        failed.passing = is_of_network and not is_trust and not isinstance(error, ValueError)
        return failed

    def json(self, path: str, params: Mapping[str, str]) -> Any:
        """The object in a JSON response. The request is retried if that may help."""
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
        if self._opened is not None and self._opened.process == os.getpid():
            self._opened.session.close()


class _Opened(NamedTuple):
    process: int
    session: _Session


def _is_answer_to(response: requests.Response, path: str) -> bool:
    """
    Whether a response belongs to this request, as far as its header ``X-Answer-To`` tells. A proxy may mix up responses,
    or remove the header.
    """
    told = response.headers.get("X-Answer-To")
    if told is None:
        return True
    target = response.request.path_url
    # A proxy may encode a URL in another way, so it is compared decoded.
    sums = [zlib.crc32(unquote_to_bytes(target[target.rindex(path) :]))]
    body = response.request.body
    if isinstance(body, bytes):
        whole = zlib.crc32(body, sums[0])
        # A refusal may come before the body was read.
        sums = [whole, *sums] if response.status_code >= 400 else [whole]
    return told in [f"{one:08x}" for one in sums]


class Body:
    """The bytes of a response as a file. Reading raises IncompleteAnswer if the connection ends before the body."""

    def __init__(self, response: requests.Response, encoding: str) -> None:
        self.headers = response.headers
        self.status = response.status_code
        #: Whether a read went past the last byte.
        self.overrun = False
        self.closed = False
        self._response = response
        self._encoding = encoding
        self._process = os.getpid()

    def expect(self, media_type: str) -> None:
        """Raises if the media type is another one, for example from a portal that requires a login."""
        came = self.headers.get("Content-Type", "no content type")
        if came.split(";")[0].strip().lower() != media_type:
            raise TapehouseError(f"not a Tapehouse response: {readable(came)!r} instead of {media_type!r}")
        if not self._is_decodable():
            packed = readable(self.headers["Content-Encoding"])
            raise TapehouseError(f"the response has the encoding {packed!r}, which was not requested")

    def json(self) -> "dict[str, Any]":
        """The body as a JSON object."""
        self.expect("application/json")
        text = self.read(LONGEST_JSON)
        if self.read(1):
            raise TapehouseError(f"the response is longer than {LONGEST_JSON} bytes")
        try:
            found = json.loads(text, parse_constant=_no_json)
        except (ValueError, RecursionError) as error:
            raise IncompleteAnswer(f"the response was cut off or is not JSON: {readable(error)}") from error
        if not isinstance(found, dict):
            raise TapehouseError("not a Tapehouse response: it is not an object")
        return found

    def of_error(self) -> bytes:
        """The beginning of a body that explains an error; empty if it cannot be read."""
        try:
            return self.read(LONGEST_ERROR) if self._is_decodable() else b""
        except IncompleteAnswer:
            return b""

    def _is_decodable(self) -> bool:
        return self.headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity", self._encoding)

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer only at the end."""
        if not 0 <= size <= LONGEST_READ:
            raise IncompleteAnswer(f"the response claims a part of {size} bytes, which is too large")
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
        if self._process != os.getpid():
            raise TapehouseError("a response can only be read in the process that requested it: request it again here")
        try:
            return bytes(self._response.raw.read(size, decode_content=True))
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise IncompleteAnswer(f"the response was cut off: {readable(error)}") from error

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
    """Waits after failures, longer each time, and gives up after too many in a row."""

    def __init__(self, retries: int, backoff: float, longest_wait: float) -> None:
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._failures = 0

    def progress(self) -> None:
        """Data arrived: resets the count of failures."""
        self._failures = 0

    def after(self, error: TapehouseError) -> None:
        """Returns when it is time to retry; raises ``error`` if a retry would not help."""
        asked = error.retry_after or 0.0
        if not error.passing or self._failures >= self._retries or asked > self._longest_wait:
            raise error
        own = min(self._backoff * 2**self._failures, self._longest_wait) * random.uniform(0.5, 1.0)
        self._failures += 1
        time.sleep(max(asked, own))


class _Bearer(requests.auth.AuthBase):
    """The token as an auth object: an entry in ``.netrc`` would override a plain header."""

    def __init__(self, token: Optional[str]) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise ValueError("the token contains an invalid character, perhaps a line break at its end")
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
