"""
ClickHouse behind HTTP: `query` is SQL, `format` a format of ClickHouse. Arrow is streamed; other formats are sent at
once, which is faster there. Each request has a connection to itself.
"""

from __future__ import annotations

from queue import Empty, LifoQueue
from typing import Any, Iterator

import chdb
from serve import serve

#: All caches of ClickHouse that hold data or metadata, and Arrow without compression. Its cache of results stays off: it
#: refuses queries of files, and cannot be given any memory in a process without a server.
SETTINGS = {
    "use_query_condition_cache": 1,
    "use_parquet_metadata_cache": 1,
    "use_uncompressed_cache": 1,
    "uncompressed_cache_size": 4 << 30,
    "use_page_cache_for_local_disks": 1,
    "page_cache_max_size": 4 << 30,
    "output_format_arrow_compression_method": "none",
}

ADDRESS = ":memory:?" + "&".join(f"{name}={value}" for name, value in SETTINGS.items())

#: The end of an Arrow stream: a continuation marker and the length 0.
END = 8

idle: "LifoQueue[Any]" = LifoQueue()


def answer(parameters: "dict[str, str]") -> Iterator[memoryview]:
    query, name = parameters["query"], parameters["format"]
    connection = take()
    try:
        if name == "ArrowStream":
            yield from arrow(connection, query)
        else:
            # A view of its bytes is valid only as long as the result.
            result = connection.query(query, name)
            yield result.get_memview().view()
    finally:
        idle.put(connection)


def arrow(connection: Any, query: str) -> Iterator[memoryview]:
    """Each chunk is a stream of its own; all schemas but the first and all ends but the last are left out."""
    end, is_first = b"", True
    with connection.send_query(query, "ArrowStream") as chunks:
        for chunk in chunks:
            stream = chunk.get_memview().view()
            start = 0 if is_first else 8 + int.from_bytes(stream[4:8], "little")
            is_first = False
            end = bytes(stream[-END:])
            yield stream[start:-END]
    yield memoryview(end)


def take() -> Any:
    try:
        return idle.get_nowait()
    except Empty:
        return chdb.connect(ADDRESS)


idle.put(chdb.connect(ADDRESS))
serve(answer)
