"""Connections that fail if a server is too slow or sends endless headers."""

from __future__ import annotations

import http.client
import io
import time
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

#: Maximum bytes of status line and headers, including those of interim responses.
LONGEST_HEAD = 1 << 20

#: A body slower than this many bytes per second is abandoned after this many timeouts of waiting.
SLOWEST = 1024
PATIENCE = 5


class _Paced(io.RawIOBase):
    """
    Reads from a connection. The timeout of a connection bounds each read; this bounds all reads together. Only waiting
    counts: a slow reader is not the server's fault.
    """

    def __init__(self, raw: Any, sock: Any) -> None:
        self._raw = raw
        self._receive = sock.recv_into
        self._timeout = sock.gettimeout()
        self._is_head = True
        self._waited = 0.0
        self._bytes = 0

    def begin_body(self) -> None:
        self._is_head, self._waited, self._bytes = False, 0.0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        began = time.monotonic()
        count: int = self._receive(buffer)
        self._waited += time.monotonic() - began
        self._bytes += count
        if self._is_head and self._bytes > LONGEST_HEAD:
            raise OSError(f"status and headers are longer than {LONGEST_HEAD} bytes")
        if self._timeout is not None and self._waited > self._allowed():
            raise TimeoutError(f"only {self._bytes} bytes arrived in {self._waited:.0f} seconds")
        return count

    def _allowed(self) -> float:
        return float(self._timeout) if self._is_head else PATIENCE * float(self._timeout) + self._bytes / SLOWEST

    def close(self) -> None:
        super().close()
        self._raw.close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._paced = _Paced(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._paced)

    def begin(self) -> None:
        super().begin()
        self._paced.begin_body()


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}


class Adapter(HTTPAdapter):
    """Creates these connections, to the server and to proxies."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager
