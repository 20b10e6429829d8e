"""The start of every peer in Python: it listens on a free port of the loopback interface, prints it, and runs until
SIGTERM. This is as little HTTP as curl and Node need, so that the time of a peer is that of its engine."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Callable, Iterable, Iterator, Optional, Union
from urllib.parse import parse_qsl, urlsplit

Buffer = Union[bytes, memoryview]
#: The parameters of a request become one buffer, or the pieces of a stream.
Answer = Callable[["dict[str, str]"], Union[Buffer, Iterable[Buffer]]]

#: Pieces up to this size are sent together with what precedes them.
SMALL = 1 << 16


def serve(answer: Answer) -> None:
    """Serves GET requests, on each connection one after another."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_serve_connection, args=(connection, answer), daemon=True).start()


def _serve_connection(connection: socket.socket, answer: Answer) -> None:
    received = b""
    with connection, suppress(ConnectionError):
        while True:
            while b"\r\n\r\n" not in received:
                more = connection.recv(1 << 16)
                if not more:
                    return
                received += more
            head, received = received.split(b"\r\n\r\n", 1)
            target = head.split(b" ", 2)[1].decode()
            _respond(connection, answer, dict(parse_qsl(urlsplit(target).query)))


def _respond(connection: socket.socket, answer: Answer, parameters: "dict[str, str]") -> None:
    """
    An error before the first piece is a 500 with its message; a later one ends the connection before the body is
    complete.
    """
    try:
        body = answer(parameters)
        pieces: Iterator[Buffer] = iter([body] if isinstance(body, (bytes, memoryview)) else body)
        piece: Optional[Buffer] = next(pieces, None)
    except Exception as error:
        status, pieces, piece = "500 Internal Server Error", iter(()), str(error).encode()
    else:
        status = "200 OK"
    head = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    while piece is not None:
        _send(connection, head + b"%x\r\n" % len(piece), piece)
        head = b"\r\n"
        piece = next(pieces, None)
    connection.sendall(head + b"0\r\n\r\n")


def _send(connection: socket.socket, head: bytes, piece: Buffer) -> None:
    if len(piece) <= SMALL:
        connection.sendall(head + piece)
    else:
        connection.sendall(head)
        connection.sendall(piece)
