"""Where whole answers are kept, to be used again when the server says that nothing changed."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple, Optional, Protocol, Union

import pyarrow as pa


class Kept(NamedTuple):
    etag: str
    table: Any


class Cache(Protocol):
    def get(self, key: str) -> Optional[Kept]: ...

    def put(self, key: str, kept: Kept) -> None: ...


class MemoryCache:
    """Keeps the answers used last, up to ``max_bytes``."""

    def __init__(self, max_bytes: int = 1 << 30) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: "OrderedDict[str, Kept]" = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Optional[Kept]:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, kept: Kept) -> None:
        if kept.table.nbytes > self._max_bytes:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._bytes += kept.table.nbytes - (before.table.nbytes if before else 0)
            self._kept[key] = kept
            while self._bytes > self._max_bytes:
                self._bytes -= self._kept.popitem(last=False)[1].table.nbytes


class DiskCache:
    """Keeps answers as Arrow files in a folder, the ones used last, up to ``max_bytes``. Processes may share it."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], max_bytes: int = 8 << 30) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._max_bytes = max_bytes

    def get(self, key: str) -> Optional[Kept]:
        path = self._path(key)
        try:
            with pa.OSFile(str(path)) as file:
                table = pa.ipc.open_file(file).read_all()
            metadata = dict(table.schema.metadata or {})
            etag = metadata.pop(b"etag").decode()
            os.utime(path)
        except (OSError, KeyError, pa.ArrowInvalid):
            return None
        return Kept(etag, table.replace_schema_metadata(metadata))

    def put(self, key: str, kept: Kept) -> None:
        path = self._path(key)
        part = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.part")
        table = kept.table.replace_schema_metadata({**(kept.table.schema.metadata or {}), b"etag": kept.etag.encode()})
        try:
            with pa.OSFile(str(part), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        self._shrink()

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.arrow"

    def _shrink(self) -> None:
        found = []
        for path in self._folder.glob("*.arrow"):
            try:
                found.append((path.stat(), path))
            except FileNotFoundError:
                continue
        size = sum(stat.st_size for stat, _ in found)
        for stat, path in sorted(found, key=lambda one: one[0].st_mtime):
            if size <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            size -= stat.st_size


def open_cache(cache: Union[None, bool, str, "os.PathLike[str]", Cache]) -> Optional[Cache]:
    """True is memory, a path is a folder."""
    if cache is None or cache is False:
        return None
    if cache is True:
        return MemoryCache()
    if isinstance(cache, (str, os.PathLike)):
        return DiskCache(cache)
    return cache
