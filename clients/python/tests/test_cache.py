"""What is kept is used again only where the server says that nothing changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from conftest import Proxy, cuts
from tapehouse import Client, DiskCache, IncompleteAnswer, MemoryCache, ProblemError

CACHES: dict[str, Callable[[Path], Any]] = {"memory": lambda _: True, "disk": lambda folder: folder / "kept"}


@pytest.fixture(params=CACHES)
def caching(request: pytest.FixtureRequest, proxy: Proxy, tmp_path: Path) -> Iterator[Client]:
    with Client(proxy.url, cache=CACHES[request.param](tmp_path), retries=0) as client:
        yield client


def test_the_second_read_is_answered_with_304_and_has_the_same_rows(caching: Client, proxy: Proxy) -> None:
    first, second = caching.daily(start_date=20250101), caching.daily(start_date=20250101)
    assert first.pandas(parse_dates=True).equals(second.pandas(parse_dates=True))
    assert first.arrow().equals(second.arrow())
    assert proxy.statuses == [200, 304]
    assert second.data_version == first.data_version
    assert caching.daily(start_date=20250201).arrow().num_rows < first.arrow().num_rows
    assert proxy.statuses == [200, 304, 200]


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


def test_caches_keep_no_more_than_they_may(proxy: Proxy, tmp_path: Path) -> None:
    for cache in (MemoryCache(max_bytes=400_000), DiskCache(tmp_path, max_bytes=400_000)):
        proxy.statuses.clear()
        with Client(proxy.url, cache=cache) as client:
            for month in (1, 2, 3, 4, 1):
                for read in (client.daily, client.daily):
                    read(start_date=f"2025{month:02}01", end_date="20251231").arrow()
        assert proxy.statuses == [200, 304] * 4 + [200, 304]
    assert 0 < sum(path.stat().st_size for path in tmp_path.iterdir()) <= 400_000
