"""A server of plain sockets that sends whatever a test wants."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from typing import Any, Callable, Iterable, List, Optional, Union

import pyarrow as pa

Act = Callable[[socket.socket], None]
TLS_HANDSHAKE = b"\x16"
ARROW = "application/vnd.apache.arrow.stream"


class HostileServer:
    """Each of ``acts`` is done for one request, in order; the last one again and again. Then the connection closes."""

    def __init__(self, *acts: Union[bytes, Act]) -> None:
        self.acts: List[Union[bytes, Act]] = list(acts)
        #: Heads of requests, in order.
        self.asked: List[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=32)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(30)
            try:
                head = b""
                while b"\r\n\r\n" not in head and not head.startswith(TLS_HANDSHAKE):
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    head += piece
                self.asked.append(head.decode("latin-1"))
                act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
                if isinstance(act, bytes):
                    connection.sendall(act)
                else:
                    act(connection)
            except OSError:
                # The client has left, as expected.
                return

    def close(self) -> None:
        self._socket.close()


def answer(
    body: bytes = b"",
    status: str = "200 OK",
    kind: Optional[str] = "application/json",
    *,
    length: Optional[int] = -1,
    **headers: str,
) -> bytes:
    """``length`` None leaves the end of the body to the end of the connection."""
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if kind is not None:
        lines.append(f"Content-Type: {kind}")
    if length is not None:
        lines.append(f"Content-Length: {len(body) if length == -1 else length}")
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


def endless(head: bytes, piece: bytes) -> Act:
    """The head, then the piece until the client leaves."""

    def act(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)

    return act


def dripping(head: bytes, piece: bytes, every: float) -> Act:
    def act(connection: socket.socket) -> None:
        connection.sendall(head)
        gone = threading.Event()
        while not gone.wait(every):
            connection.sendall(piece)

    return act


def bomb(megabytes: int) -> bytes:
    """This many megabytes of zeros, compressed with gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()


def arrow(columns: "dict[str, Any]") -> bytes:
    return stream(pa.record_batch(columns))


def stream(*batches: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def packed(body: bytes) -> bytes:
    return gzip.compress(body)


def chunked(pieces: Iterable[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
