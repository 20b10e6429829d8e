"""A response is complete or raises an exception; requests are retried if possible, and no row is repeated."""

from __future__ import annotations

import datetime
import email.utils
import time
from typing import Any, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
import urllib3

import tapehouse
from conftest import Fault, Proxy, cuts, drops, refuses, shortens
from tapehouse import Client, ConnectionFailed, IncompleteAnswer, ProblemError

CUTS = {
    **{f"{part} of the body, {framing}": cuts(part, framing=framing)
       for part in (0.0, 0.3, 0.7, 0.999) for framing in ("length", "chunked", "none")},
    "the end of the Arrow stream": shortens(8),
    "half of the end of the Arrow stream": shortens(4),
}


@pytest.fixture
def careless(proxy: Proxy) -> Iterator[Client]:
    """A client that never retries."""
    with Client(proxy.url, retries=0) as client:
        yield client


@pytest.fixture
def careful(proxy: Proxy) -> Iterator[Client]:
    with Client(proxy.url, retries=3, backoff=0.001) as client:
        yield client


def version_asked(path: str) -> Any:
    return parse_qs(urlsplit(path).query).get("data_version")


@pytest.mark.parametrize("form", ["arrow", "pandas", "polars", "batches"])
@pytest.mark.parametrize("fault", CUTS.values(), ids=CUTS)
def test_a_cut_answer_is_an_error_in_every_form(careless: Client, proxy: Proxy, fault: Fault, form: str) -> None:
    proxy.faults = [fault]
    with pytest.raises(IncompleteAnswer, match="cut"):
        list(getattr(careless.daily(), form)())


@pytest.mark.parametrize("fault", CUTS.values(), ids=CUTS)
def test_a_cut_answer_is_read_again_in_the_same_version(
    client: Client, careful: Client, proxy: Proxy, fault: Fault
) -> None:
    proxy.faults = [fault, fault]
    answer = careful.daily()
    assert answer.arrow().equals(client.daily().arrow())
    versions = [version_asked(path) for path in proxy.asked]
    assert versions == [None, [client.versions()[0]], [client.versions()[0]]]


def test_batches_go_on_after_a_cut_without_a_row_twice(client: Client, careful: Client, proxy: Proxy) -> None:
    rows = client.stk_auction().arrow()
    proxy.faults = [cuts(0.9, framing="chunked"), drops, cuts(0.99, framing="length")]
    batches = list(careful.stk_auction().batches())
    assert [row for batch in batches for row in batch.to_pylist()] == rows.to_pylist()
    assert len(batches) > 2
    assert len(proxy.asked) == 4


def test_it_gives_up_where_nothing_comes(careful: Client, proxy: Proxy) -> None:
    proxy.faults = [cuts(0.5, framing="chunked")] * 10
    with pytest.raises(IncompleteAnswer):
        careful.daily().arrow()
    assert len(proxy.asked) == 4


def test_the_stream_of_a_reader_that_is_cut_is_an_error(careless: Client, proxy: Proxy) -> None:
    proxy.faults = [cuts(0.99, framing="chunked")]
    with pytest.raises(Exception, match="cut"):
        careless.daily().reader().read_all()


@pytest.mark.parametrize("fault", [drops, refuses(429, Retry_After="0"), refuses(503)], ids=["drop", "429", "503"])
def test_what_passes_is_tried_again_for_rows_and_for_the_rest(
    client: Client, careful: Client, proxy: Proxy, fault: Fault
) -> None:
    proxy.faults = [fault, fault]
    assert careful.daily(limit=5).arrow().equals(client.daily(limit=5).arrow())
    proxy.faults = [fault, fault]
    assert careful.trading_days() == client.trading_days()
    assert len(proxy.asked) == 6


def test_it_waits_as_long_as_the_server_asks(careful: Client, proxy: Proxy) -> None:
    proxy.faults = [refuses(429, Retry_After="1")]
    began = time.monotonic()
    careful.shift(20250102, 1)
    assert time.monotonic() - began >= 1.0


def test_it_understands_a_date_to_wait_for(careful: Client, proxy: Proxy) -> None:
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    proxy.faults = [refuses(503, Retry_After=email.utils.format_datetime(until, usegmt=True))]
    with pytest.raises(ProblemError) as refused:
        careful.versions()
    assert refused.value.retry_after is not None and 3000 < refused.value.retry_after <= 3600
    assert len(proxy.asked) == 1


def test_what_does_not_pass_is_not_tried_again(careful: Client, proxy: Proxy) -> None:
    with pytest.raises(ProblemError):
        careful.daily(start_date="20240230").arrow()
    assert len(proxy.asked) == 1


def test_a_problem_has_all_that_the_server_tells(client: Client) -> None:
    with pytest.raises(ProblemError) as refused:
        client.read("daily", start_dae="20240101").arrow()
    problem = refused.value
    assert (problem.status, problem.code, problem.parameter) == (400, "unknown_parameter", "start_dae")
    assert "start_date" in problem.allowed
    assert problem.hint == "did you mean start_date?"
    assert problem.request_id
    assert "start_date" in str(problem)


def test_a_wrong_token_is_a_problem_and_shows_nowhere(url: str) -> None:
    with Client(url, "a-secret") as client:
        with pytest.raises(ProblemError) as refused:
            client.versions()
        assert refused.value.code == "unauthorized"
        assert "a-secret" not in repr(client) + repr(refused.value)


def test_an_entry_in_netrc_does_not_replace_the_token(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password something\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with Client(url) as client:
        assert client.versions()


def test_an_error_without_a_problem_document_is_told_by_its_status(careful: Client, proxy: Proxy) -> None:
    proxy.faults = [refuses(502)]
    with pytest.raises(ProblemError) as refused:
        careful.daily().arrow()
    assert (refused.value.status, refused.value.code) == (502, "http_502")


def test_nobody_there_is_a_failed_connection() -> None:
    with Client("http://127.0.0.1:9", "t", retries=1, backoff=0.001) as client, pytest.raises(ConnectionFailed):
        client.health()


def test_connections_are_used_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    connect = urllib3.connection.HTTPConnection._new_conn

    def count(self: Any) -> Any:
        opened.append(self)
        return connect(self)

    monkeypatch.setattr(urllib3.connection.HTTPConnection, "_new_conn", count)
    for _ in range(5):
        client.daily().arrow()
        client.versions()
        with pytest.raises(ProblemError):
            client.read("nothing").arrow()
    assert len(opened) <= 1


def test_a_compressed_answer_is_the_same(client: Client, url: str) -> None:
    with Client(url, compress=True) as compressing:
        assert compressing.daily().arrow().equals(client.daily().arrow())
        assert list(compressing.trading_days()) == client.trading_days()


def test_the_version_is_known_after_reading(client: Client) -> None:
    answer = client.daily(limit=1)
    assert answer.data_version is None
    assert answer.arrow() is answer.arrow()
    assert answer.data_version == client.versions()[0]
    assert isinstance(answer, tapehouse.Answer)
