"""Caches of complete responses, which are reused if the server confirms that nothing has changed."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from pathlib import Path
from typing import IO, Any, NamedTuple, Optional, Protocol, Union

import pyarrow as pa


class Kept(NamedTuple):
    etag: str
    table: Any


class Cache(Protocol):
    def get(self, key: str) -> Optional[Kept]: ...

    def put(self, key: str, kept: Kept) -> None: ...


class MemoryCache:
    """Caches the most recently used responses, up to ``max_bytes``. A forked process begins with an empty one."""

    def __init__(self, max_bytes: int = 1 << 30) -> None:
        self._max_bytes = max_bytes
        self._empty()
        _forked.add(self)

    def _empty(self) -> None:
        self._bytes = 0
        self._kept: "OrderedDict[str, Kept]" = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        """A copy in another process begins empty."""
        return MemoryCache, (self._max_bytes,)

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


#: A thread of the parent may have been changing them when a process was forked.
_forked: "weakref.WeakSet[MemoryCache]" = weakref.WeakSet()


def _after_fork() -> None:
    for cache in _forked:
        cache._empty()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class DiskCache:
    """
    Caches the most recently used responses as Arrow files in a folder, up to ``max_bytes``. Processes of one user may
    share it. Only this user can read the files, and files of other users are not read.
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"], max_bytes: int = 8 << 30) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._max_bytes = max_bytes

    def get(self, key: str) -> Optional[Kept]:
        path = self._path(key)
        try:
            with open(path, "rb", opener=_open_own) as file:
                content = file.read()
            os.utime(path)
            end = len(content) - _DIGEST().digest_size
            whole = memoryview(content)[: max(end, 0)]
            if _DIGEST(whole).digest() != content[max(end, 0) :]:
                return None
            table = pa.ipc.open_file(pa.py_buffer(whole)).read_all()
            metadata = dict(table.schema.metadata or {})
            etag = metadata.pop(b"etag").decode()
            # Otherwise one file was replaced by another.
            if metadata.pop(b"key").decode() != path.stem:
                return None
        except (OSError, KeyError, ValueError, pa.ArrowException):
            return None
        return Kept(etag, table.replace_schema_metadata(metadata))

    def put(self, key: str, kept: Kept) -> None:
        """Caches a response. If that fails, for example on a full disk, it only warns: the rows are not affected."""
        try:
            self._write(self._path(key), kept)
            self._shrink()
        except OSError as error:
            warnings.warn(f"the response is not cached in {self._folder}: {error}", RuntimeWarning, stacklevel=2)

    def _write(self, path: Path, kept: Kept) -> None:
        before = kept.table.schema.metadata or {}
        table = kept.table.replace_schema_metadata({**before, b"etag": kept.etag.encode(), b"key": path.stem.encode()})
        # Creates a new file that only its owner can read, whatever the umask and the other files are.
        handle, part = tempfile.mkstemp(_PART, dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as file:
                digested = _Digested(file)
                with pa.ipc.new_file(digested, table.schema) as writer:
                    writer.write_table(table)
                file.write(digested.digest())
            os.replace(part, path)
        finally:
            Path(part).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()}.arrow"

    def _shrink(self) -> None:
        found = []
        for path in self._folder.iterdir():
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            if path.suffix == _PART and time.time() - status.st_mtime > _ABANDONED_AFTER:
                path.unlink(missing_ok=True)
            elif _NAME.fullmatch(path.name):
                found.append((status, path))
        size = sum(status.st_size for status, _ in found)
        for status, path in sorted(found, key=lambda one: one[0].st_mtime):
            if size <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            size -= status.st_size


_DIGEST = hashlib.sha256
_NAME = re.compile(r"[0-9a-f]{64}\.arrow")
#: The suffix of a file that is being written, and the seconds after which it counts as abandoned.
_PART = ".tapehouse-part"
_ABANDONED_AFTER = 3600.0


def _open_own(path: str, flags: int) -> int:
    """Opens a file that belongs to this user and that no other user may write. Refuses links and pipes."""
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    found = os.fstat(handle)
    is_own = not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and found.st_mode & 0o022 == 0)
    if stat.S_ISREG(found.st_mode) and is_own:
        return handle
    os.close(handle)
    raise PermissionError(f"{path} is not a file of this user")


class _Digested:
    """A file that computes the digest of what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = _DIGEST()
        self.closed = False

    def write(self, piece: Any) -> int:
        self._digest.update(piece)
        return self._file.write(piece)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def writable(self) -> bool:
        return True

    def digest(self) -> bytes:
        return self._digest.digest()


def open_cache(cache: Union[None, bool, str, "os.PathLike[str]", Cache]) -> Optional[Cache]:
    """True means in memory, a path means in that folder."""
    if cache is None or cache is False:
        return None
    if cache is True:
        return MemoryCache()
    if isinstance(cache, (str, os.PathLike)):
        return DiskCache(cache)
    return cache
