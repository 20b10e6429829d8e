"""A cached response is reused only if the server confirms that nothing has changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any, Callable, Iterator

import pyarrow as pa
import pytest

from conftest import Proxy, cuts
from tapehouse import Client, DiskCache, IncompleteAnswer, MemoryCache, ProblemError
from tapehouse._cache import Kept

CACHES: dict[str, Callable[[Path], Any]] = {"memory": lambda _: True, "disk": lambda folder: folder / "kept"}


@pytest.fixture(params=CACHES)
def caching(request: pytest.FixtureRequest, proxy: Proxy, tmp_path: Path) -> Iterator[Client]:
    with Client(proxy.url, cache=CACHES[request.param](tmp_path), retries=0) as client:
        yield client


def test_the_second_read_is_answered_with_304_and_has_the_same_rows(caching: Client, proxy: Proxy) -> None:
    first, second = caching.daily(start_date=20250101), caching.daily(start_date=20250101)
    assert first.pandas().equals(second.pandas())
    assert first.arrow().equals(second.arrow())
    assert proxy.statuses == [200, 304]
    assert second.data_version == first.data_version
    assert caching.daily(start_date=20250201).arrow().num_rows < first.arrow().num_rows
    assert proxy.statuses == [200, 304, 200]


def test_dates_and_text_are_kept_apart(caching: Client, proxy: Proxy) -> None:
    for _ in range(2):
        dates, text = caching.daily(), caching.daily(dates="text")
        assert [dates.arrow().schema.field("trade_date").type, text.arrow().schema.field("trade_date").type] == [
            pa.date32(),
            pa.string(),
        ]
    assert proxy.statuses == [200, 200, 304, 304]


def test_text_in_a_cache_of_an_earlier_version_is_not_returned_for_dates(proxy: Proxy, tmp_path: Path) -> None:
    with Client(proxy.url, cache=tmp_path) as client:
        whole = client.daily(dates="text").arrow()
        transport = client._source.transport
        old = repr((transport.url, transport.identity, "daily", []))
        kept = DiskCache(tmp_path).get(old)
        assert kept is not None and kept.table.equals(whole)
        assert client.daily().arrow().schema.field("trade_date").type == pa.date32()
        # Even under the key of the dates, its validator is that of text: the server sends the dates.
        DiskCache(tmp_path).put(repr((transport.url, transport.identity, "daily", [("dates", "date")])), kept)
        assert client.daily().arrow().schema.field("trade_date").type == pa.date32()
    assert proxy.statuses == [200, 200, 200]


def test_an_empty_answer_is_kept_too(caching: Client, proxy: Proxy) -> None:
    for _ in range(2):
        assert caching.daily(ts_code="999999.SH").pandas().columns[0] == "ts_code"
    assert proxy.statuses == [200, 304]


def test_a_cut_answer_is_not_kept(caching: Client, proxy: Proxy) -> None:
    proxy.faults = [cuts(0.9, framing="length")]
    with pytest.raises(IncompleteAnswer):
        caching.daily().arrow()
    assert caching.daily().arrow().num_rows > 0
    assert proxy.statuses == [200, 200]


def test_pages_are_whole_with_a_cache(caching: Client, client: Client) -> None:
    for _ in range(2):
        assert sum(page.arrow().num_rows for page in caching.pages("daily", limit=2000)) == client.daily().arrow().num_rows


def test_a_folder_serves_the_next_process(proxy: Proxy, tmp_path: Path) -> None:
    for _ in range(2):
        with Client(proxy.url, cache=tmp_path) as client:
            rows = client.daily().arrow().num_rows
    assert proxy.statuses == [200, 304]
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:1000])
    with Client(proxy.url, cache=tmp_path) as client:
        assert client.daily().arrow().num_rows == rows
    assert proxy.statuses == [200, 304, 200]


def test_a_token_that_may_not_read_gets_nothing_from_the_folder(proxy: Proxy, tmp_path: Path) -> None:
    with Client(proxy.url, cache=tmp_path) as client:
        client.daily().arrow()
    with Client(proxy.url, "wrong", cache=tmp_path) as stranger, pytest.raises(ProblemError):
        stranger.daily().arrow()


def test_two_tokens_share_no_answer_even_where_both_may_read(proxy: Proxy, tmp_path: Path) -> None:
    other_token = os.environ["TAPEHOUSE_OTHER_TOKEN"]
    for cache in (MemoryCache(), DiskCache(tmp_path)):
        proxy.statuses.clear()
        with Client(proxy.url, cache=cache) as client, Client(proxy.url, other_token, cache=cache) as other:
            for one in (client, other, client, other):
                one.daily().arrow()
            assert proxy.statuses == [200, 200, 304, 304]
    assert not any(other_token.encode() in path.read_bytes() for path in tmp_path.iterdir())


def kept(value: int) -> Kept:
    return Kept("an-etag", pa.table({"a": [value]}, metadata={"more": "x"}))


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_only_the_owner_can_read_what_is_kept_whatever_the_umask(tmp_path: Path, umask: None) -> None:
    DiskCache(tmp_path / "own").put("key", kept(1))
    (path,) = (tmp_path / "own").iterdir()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path)] == [0o700, 0o600]
    assert DiskCache(tmp_path / "own").get("key") == kept(1)


def test_what_lies_in_a_shared_folder_is_neither_followed_nor_trusted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "own")
    cache.put("key", kept(1))
    (path,) = (tmp_path / "own").iterdir()
    elsewhere = path.rename(tmp_path / "elsewhere")
    before = elsewhere.read_bytes()

    def write(mode: int, owner: int) -> None:
        path.write_bytes(before)
        path.chmod(mode)
        os.chown(path, owner, -1)

    def replaced_by(make: Callable[[], None]) -> None:
        path.unlink(missing_ok=True)
        make()
        assert cache.get("key") is None
        cache.put("key", kept(2))
        assert cache.get("key") == kept(2)
        assert stat.S_ISREG(path.lstat().st_mode) and elsewhere.read_bytes() == before

    replaced_by(lambda: path.symlink_to(elsewhere))
    replaced_by(lambda: path.symlink_to(tmp_path / "nowhere"))
    replaced_by(lambda: os.mkfifo(path))
    replaced_by(lambda: write(0o666, os.geteuid()))
    if os.geteuid() == 0:
        replaced_by(lambda: write(0o600, 65534))


def test_a_file_that_is_damaged_anywhere_or_of_another_question_is_not_used(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.put("key", kept(1))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.get("key") is None
    for damaged in (b"", whole[:-1], whole[:20], whole + b"x", b"x" * 5000):
        path.write_bytes(damaged)
        assert cache.get("key") is None
    path.write_bytes(whole)
    assert cache.get("key") == kept(1)
    cache.put("other", kept(2))
    (other,) = set(tmp_path.iterdir()) - {path}
    os.replace(other, path)
    assert cache.get("key") is None


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(proxy: Proxy, tmp_path: Path) -> None:
    with Client(proxy.url, cache=tmp_path / "kept") as client:
        (tmp_path / "kept").rmdir()
        (tmp_path / "kept").write_text("no folder")
        with pytest.warns(RuntimeWarning, match="not cached"):
            assert client.daily(limit=None).arrow().num_rows > 0


def test_a_folder_loses_what_crashes_left_but_no_files_of_others(tmp_path: Path) -> None:
    names = ["mine.arrow", "old.tapehouse-part", "new.tapehouse-part"]
    for name in names:
        (tmp_path / name).write_text("something")
    os.utime(tmp_path / names[1], (0, 0))
    DiskCache(tmp_path, max_bytes=0).put("key", kept(1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.arrow", "new.tapehouse-part"]


def test_caches_keep_no_more_than_they_may(proxy: Proxy, tmp_path: Path) -> None:
    for cache in (MemoryCache(max_bytes=400_000), DiskCache(tmp_path, max_bytes=400_000)):
        proxy.statuses.clear()
        with Client(proxy.url, cache=cache) as client:
            for month in (1, 2, 3, 4, 1):
                for read in (client.daily, client.daily):
                    read(start_date=f"2025{month:02}01", end_date="20251231").arrow()
        assert proxy.statuses == [200, 304] * 4 + [200, 304]
    assert 0 < sum(path.stat().st_size for path in tmp_path.iterdir()) <= 400_000
