"""A real server, given by the environment, and a proxy that simulates network faults."""

from __future__ import annotations

import http.client
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, List
from urllib.parse import urlsplit

import pytest
import requests

import tapehouse

#: Receives the server's response and writes the faulty one to the client.
Fault = Callable[["_Handler", http.client.HTTPResponse, bytes], None]


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["TAPEHOUSE_URL"]


@pytest.fixture(scope="session")
def client(url: str) -> Iterator[tapehouse.Client]:
    with tapehouse.Client(url) as client:
        yield client


@pytest.fixture(scope="session")
def json_rows(url: str) -> Callable[..., List[List[Any]]]:
    """Rows of the JSON envelope, without the client."""

    def ask(entity: str, **params: str) -> List[List[Any]]:
        headers = {"Authorization": f"Bearer {os.environ['TAPEHOUSE_TOKEN']}"}
        answer = requests.get(f"{url}/api/v1/entities/{entity}", params=params, headers=headers, timeout=60)
        answer.raise_for_status()
        rows: List[List[Any]] = answer.json()["rows"]
        return rows

    return ask


class Proxy:
    """Forwards requests. Each of ``faults`` is applied to one response, in order; later responses are not changed."""

    def __init__(self, server: str) -> None:
        self.faults: List[Fault] = []
        #: Paths with queries, in order.
        self.asked: List[str] = []
        #: Status codes of the server.
        self.statuses: List[int] = []
        handler = type("Handler", (_Handler,), {"proxy": self, "server_address_": urlsplit(server).netloc})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    proxy: Proxy
    server_address_: str
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        upstream = http.client.HTTPConnection(self.server_address_, timeout=60)
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream.request(self.command, self.path, sent, {**self.headers, "Accept-Encoding": "identity"})
        answer = upstream.getresponse()
        body = answer.read()
        upstream.close()
        self.proxy.asked.append(self.path)
        self.proxy.statuses.append(answer.status)
        fault = self.proxy.faults.pop(0) if self.proxy.faults else passes
        fault(self, answer, body)

    do_POST = do_GET

    def head(self, answer: http.client.HTTPResponse, **headers: str) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date"):
                self.send_header(name, value)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def passes(handler: _Handler, answer: http.client.HTTPResponse, body: bytes) -> None:
    handler.head(answer, Content_Length=str(len(body)))
    handler.wfile.write(body)


def drops(handler: _Handler, answer: http.client.HTTPResponse, body: bytes) -> None:
    handler.close_connection = True


def cuts(after: float, *, framing: str) -> Fault:
    """The connection ends after this part of the body. ``framing`` is ``length``, ``chunked`` or ``none``."""

    def cut(handler: _Handler, answer: http.client.HTTPResponse, body: bytes) -> None:
        sent = body[: int(len(body) * after)]
        if framing == "length":
            handler.head(answer, Content_Length=str(len(body)))
        elif framing == "chunked":
            handler.head(answer, Transfer_Encoding="chunked")
            sent = b"%x\r\n%s\r\n" % (len(sent), sent)
        else:
            handler.head(answer, Connection="close")
        handler.wfile.write(sent)
        handler.close_connection = True

    return cut


def shortens(by: int) -> Fault:
    """A body that is complete for HTTP, but lacks its last bytes."""
    return lambda handler, answer, body: passes(handler, answer, body[:-by])


def refuses(status: int, **headers: str) -> Fault:
    def refuse(handler: _Handler, answer: http.client.HTTPResponse, body: bytes) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return refuse


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    proxy = Proxy(url)
    yield proxy
    proxy.close()
