"""Forked, spawned and pickled clients, and responses that belong to another request."""

from __future__ import annotations

import http.client
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, Callable, List

import joblib
import pytest

from conftest import Proxy, _Handler, passes
from tapehouse import Client, ConnectionFailed, MemoryCache, TapehouseError

CACHES: "dict[str, Callable[[Any], Any]]" = {
    "no cache": lambda _: None,
    "a cache in memory": lambda _: True,
    "a cache in a folder": lambda folder: folder / "kept",
}
#: What forked processes inherit, as a notebook's module-level client.
shared: Client


def codes_by(client: Client, code: str) -> List[str]:
    found: List[str] = client.daily(ts_code=code, limit=5).arrow()["ts_code"].unique().to_pylist()
    return found


def codes_of(code: str) -> List[str]:
    return codes_by(shared, code)


@pytest.fixture(scope="module")
def codes(client: Client) -> List[str]:
    found: List[str] = client.daily(order="desc", limit=50).arrow()["ts_code"].to_pylist()
    return found * 4


@pytest.fixture(params=CACHES)
def inherited(request: pytest.FixtureRequest, url: str, tmp_path: Any, codes: List[str]) -> Any:
    """A client with open connections, and threads that use it while processes are forked."""
    global shared
    with Client(url, cache=CACHES[request.param](tmp_path)) as shared:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(codes_of, codes[:8]))
        yield shared


def test_eight_forked_processes_get_the_rows_that_they_asked_for(inherited: Client, codes: List[str]) -> None:
    stopping = threading.Event()

    def ask(code: str) -> None:
        while not stopping.is_set():
            assert codes_of(code) == [code]

    with ThreadPoolExecutor(2) as threads:
        asking = [threads.submit(ask, code) for code in codes[:2]]
        try:
            with ProcessPoolExecutor(8, mp_context=multiprocessing.get_context("fork")) as pool:
                assert list(pool.map(codes_of, codes)) == [[code] for code in codes]
        finally:
            stopping.set()
        for one in asking:
            one.result()
    assert codes_of(codes[1]) == codes[1:2]


def test_a_pickled_client_works_in_spawned_processes(inherited: Client, codes: List[str]) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(codes_by, [inherited] * 6, codes[:6])) == [[code] for code in codes[:6]]


def test_joblib_passes_a_client_to_its_workers(inherited: Client, codes: List[str]) -> None:
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(codes_by)(inherited, code) for code in codes[:6])
    assert found == [[code] for code in codes[:6]]


def test_threads_share_a_client(inherited: Client, codes: List[str]) -> None:
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(codes_of, codes)) == [[code] for code in codes]


def test_a_pickled_memory_cache_begins_empty_with_the_same_size() -> None:
    copy = pickle.loads(pickle.dumps(MemoryCache(1234)))
    assert (copy._max_bytes, copy.get("anything")) == (1234, None)


def test_a_response_that_was_begun_before_a_fork_cannot_be_read_after_it(url: str) -> None:
    with Client(url) as client:
        batches = client.daily().batches()
        first = next(batches).num_rows
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                list(batches)
                os.write(write, b"all rows")
            except TapehouseError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 1000) == (
            b"a response can only be read in the process that requested it: request it again here"
        )
        os.close(read)
        os.close(write)
        assert first + sum(batch.num_rows for batch in batches) == client.daily().arrow().num_rows


def of_another_request(handler: _Handler, answer: http.client.HTTPResponse, body: bytes) -> None:
    handler.path = "/api/v1/entities/daily?ts_code=000001.SZ"
    handler.proxy.faults.insert(0, passes)
    handler.do_GET()


def test_a_response_to_another_request_is_requested_again(proxy: Proxy, codes: List[str]) -> None:
    with Client(proxy.url, backoff=0) as client:
        proxy.faults = [of_another_request, of_another_request]
        assert codes_by(client, codes[2]) == codes[2:3]


def test_responses_to_other_requests_are_an_error_in_the_end(proxy: Proxy, codes: List[str]) -> None:
    with Client(proxy.url, retries=0) as client:
        proxy.faults = [of_another_request]
        with pytest.raises(ConnectionFailed, match="sent the response to another request"):
            codes_by(client, codes[2])
