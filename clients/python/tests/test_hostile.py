"""Whatever a server sends, a failure raises an exception of the client, in bounded memory and time."""

from __future__ import annotations

import datetime
import threading
import time
import tracemalloc
from contextlib import contextmanager
from typing import Any, Iterator, List

import pyarrow as pa
import pytest

from hostile import ARROW, HostileServer, answer, arrow, bomb, chunked, dripping, endless, packed, stream
from tapehouse import Client, ConnectionFailed, IncompleteAnswer, ProblemError, TapehouseError

BOMB = bomb(300)
#: Rows of ``trade_cal``, the entity with the fewest columns.
DAYS = (datetime.date(2024, 1, 5), datetime.date(2024, 1, 4))
CALENDAR = {"exchange": ["SSE"], "cal_date": [DAYS[0]], "is_open": [1], "pretrade_date": [DAYS[1]]}
GOOD = arrow(CALENDAR)
VERSIONS = b'{"versions": ["v1"]}'


@contextmanager
def serving(*acts: Any, **options: Any) -> Iterator["tuple[Client, HostileServer]"]:
    server = HostileServer(*acts)
    try:
        with Client(server.url, "the-token", **{"retries": 0, "timeout": 20.0, **options}) as client:
            yield client, server
    finally:
        server.close()


def failure(ask: Any) -> TapehouseError:
    """The exception of ``ask``, which must not take more than this much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(TapehouseError) as failed:
            ask()
        assert tracemalloc.get_traced_memory()[1] < 160 << 20
    finally:
        tracemalloc.stop()
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 10_000
    assert "the-token" not in str(failed.value)
    return failed.value


def rows(client: Client) -> Any:
    return client.trade_cal().arrow()


def test_the_good_answer_of_these_tests_is_read() -> None:
    with serving(answer(GOOD, kind=ARROW)) as (client, _):
        assert rows(client).to_pylist()[0]["pretrade_date"] == DAYS[1]
    with serving(answer(VERSIONS)) as (client, _):
        assert client.versions() == ["v1"]


class TestErrorBody:
    def test_that_is_a_bomb_is_read_up_to_a_bound(self) -> None:
        for compress in (True, False):
            with serving(answer(BOMB, "500 Broken", Content_Encoding="gzip"), compress=compress) as (client, _):
                tracemalloc.start()
                with pytest.raises(ProblemError) as refused:
                    client.versions()
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert (refused.value.status, refused.value.code) == (500, "http_500")
                assert "Broken" in str(refused.value)
                assert peak < 8 << 20

    def test_without_end_is_read_up_to_a_bound(self) -> None:
        with serving(endless(answer(status="500 Broken", length=None), b"x" * 65536)) as (client, _):
            assert failure(client.versions).code == "http_500"  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        "body",
        [
            b"<html>a page of a proxy</html>",
            b"[" * 60_000,
            b'{"code": {"a": 1}, "detail": 7, "allowed": 3, "hint": [], "parameter": null}',
            b'{"detail": "\\u001b[31m' + b"long" * 10_000 + b'", "allowed": [1, "\\u0007a"]}',
            b'"text"',
            b"\xff\xfe",
        ],
    )
    def test_of_any_kind_is_a_problem_with_the_status(self, body: bytes) -> None:
        with serving(answer(body, "502 Bad \x1b[31m Gateway")) as (client, _):
            problem = failure(client.versions)
        assert isinstance(problem, ProblemError)
        assert (problem.status, problem.code) == (502, "http_502")
        assert all(isinstance(text, str) and text.isprintable() for text in problem.allowed)

    def test_that_is_cut_is_a_problem_with_the_status(self) -> None:
        with serving(answer(b'{"code": "a', "500 Broken", length=1000)) as (client, _):
            assert failure(client.versions).code == "http_500"  # type: ignore[attr-defined]


class TestRedirect:
    @pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
    def test_is_not_followed_and_hands_the_token_to_nobody(self, status: str) -> None:
        with serving(answer()) as (_, other):
            for there in (f"{other.url}/elsewhere", "file:///etc/passwd", "/loop", "https://127.0.0.1:1/", "\\", "//"):
                with serving(answer(status=status, Location=there)) as (client, server):
                    for ask in (client.versions, lambda: rows(client)):
                        problem = failure(ask)
                        assert isinstance(problem, ProblemError) and problem.code == f"http_{status[:3]}"
                        assert "redirects" in problem.detail
                    assert len(server.asked) == 2
            assert other.asked == []

    def test_with_a_bomb_as_its_body_is_not_unpacked(self) -> None:
        bombing = answer(BOMB, "302 Found", Location="/", Content_Encoding="gzip")
        with serving(bombing, compress=True) as (client, _):
            tracemalloc.start()
            with pytest.raises(ProblemError):
                client.versions()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 8 << 20


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("1000000", 1e6), ("9" * 400, float("inf")), ("\xb2", None), ("soon", None), ("-5", None), ("", None),
     ("Mon, 99 Foo 99999 99:99:99 GMT", None), ("Fri, 31 Dec 9999 23:59:59 -2359", ...), ("1e9", None)],
)
def test_a_strange_time_to_wait_is_not_waited_for(told: str, seconds: Any) -> None:
    busy = answer(status="503 Busy", Retry_After=told)
    with serving(busy, retries=1, backoff=0.001, longest_wait=5) as (client, server):
        began = time.monotonic()
        problem = failure(client.versions)
        assert time.monotonic() - began < 5
        assert seconds is ... or problem.retry_after == seconds
        assert len(server.asked) == (1 if problem.retry_after else 2)


SUCCESSES = {
    "a page of a portal": answer(b"<html>log in</html>", kind="text/html"),
    "no type": answer(VERSIONS, kind=None),
    "a problem": answer(b'{"code": "x"}', kind="application/problem+json"),
    "an encoding not asked for": answer(packed(VERSIONS), Content_Encoding="gzip"),
    "an encoding that nobody knows": answer(VERSIONS, Content_Encoding="x" * 5000),
    "five encodings": answer(VERSIONS, Content_Encoding="gzip, gzip, gzip, gzip, gzip"),
    "204": answer(status="204 No Content", length=None),
    "206": answer(VERSIONS, "206 Partial Content"),
    "304 that was not asked for": answer(status="304 Not Modified"),
    "an odd status": answer(status="799 Odd"),
    "no number as a status": answer(status="abc"),
    "a NaN": answer(b'{"versions": NaN}'),
    "no object": answer(b"[]"),
    "another object": answer(b'{"days": 1, "gaps": "x", "result": 2, "versions": {}}'),
    "too deep": answer(b"[" * 100_000),
    "a body that is shorter than its length": answer(VERSIONS, length=1000),
    "half an object": answer(b'{"versions": ["v1"'),
    "nothing": b"",
    "no HTTP": b"\x00\x01\x02 SSH-2.0\r\n\r\n",
    "a chunk of no length": answer(length=None, Transfer_Encoding="chunked") + b"zz\r\n",
    "chunks without an end": answer(length=None, Transfer_Encoding="chunked") + chunked([VERSIONS]),
    "lengths that differ": answer(VERSIONS, Content_Length="3"),
    "two thousand headers": b"HTTP/1.1 200 OK\r\n" + b"".join(b"A%d: b\r\n" % i for i in range(2000)) + b"\r\n",
    "a header that is too long": b"HTTP/1.1 200 OK\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("sent", SUCCESSES.values(), ids=SUCCESSES)
def test_what_is_no_answer_is_an_error_for_rows_and_for_the_rest(sent: bytes) -> None:
    with serving(sent) as (client, _):
        for ask in (
            client.versions, client.meta, client.trading_days, client.pin, lambda: rows(client),
            lambda: client.gaps("daily"), lambda: client.shift(20240105, 1), lambda: list(client.pages("trade_cal", limit=1)),
        ):
            if ask == client.meta and sent == SUCCESSES["another object"]:
                continue
            failure(ask)


def test_bytes_after_the_body_are_not_taken_for_the_next_answer() -> None:
    def act(connection: Any) -> None:
        kept = answer(VERSIONS).replace(b"Connection: close", b"Connection: keep-alive")
        connection.sendall(kept + answer(b'{"versions": ["smuggled"]}'))
        connection.recv(65536)
        connection.sendall(answer(VERSIONS))

    with serving(act) as (client, _):
        assert [client.versions(), client.versions()] == [["v1"], ["v1"]]


def test_trailers_are_no_part_of_the_answer() -> None:
    sent = answer(length=None, Transfer_Encoding="chunked") + chunked([VERSIONS[:5], VERSIONS[5:]])
    with serving(sent + b"0\r\nX-Data-Version: other\r\n\r\n") as (client, _):
        assert client.versions() == ["v1"]


class TestWithoutEnd:
    def test_json(self) -> None:
        with serving(endless(answer(length=None) + b'{"versions": "', b"x" * 65536)) as (client, _):
            assert "longer than" in str(failure(client.versions))

    def test_json_that_is_a_bomb(self) -> None:
        with serving(answer(BOMB, Content_Encoding="gzip"), compress=True) as (client, _):
            assert "longer than" in str(failure(client.versions))

    def test_rows_that_are_a_bomb(self) -> None:
        for sent in (BOMB, packed(GOOD) + BOMB):
            with serving(answer(sent, kind=ARROW, Content_Encoding="gzip"), compress=True) as (client, _):
                assert isinstance(failure(lambda: rows(client)), IncompleteAnswer)

    def test_headers(self) -> None:
        def interim(connection: Any) -> None:
            while True:
                connection.sendall(b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n" * 1000)

        head = b"HTTP/1.1 200 OK\r\n"
        for act in (interim, endless(head, b"a: b\r\n"), endless(head, b"x" * 1000)):
            with serving(act) as (client, _):
                assert isinstance(failure(client.versions), ConnectionFailed)

    def test_pages(self) -> None:
        empty = stream(pa.record_batch(CALENDAR).slice(0, 0))
        for body in (empty, GOOD):
            with serving(answer(body, kind=ARROW, X_Next_Cursor="again")) as (client, _):
                assert "cursor does not advance" in str(failure(lambda: rows(client)))
                assert "cursor does not advance" in str(failure(lambda: list(client.pages("trade_cal", limit=1))))


class TestDrip:
    @pytest.mark.parametrize(
        "head",
        [
            b"HTTP/1.1 200 OK\r\nA: ",
            answer(length=None),
            answer(kind=ARROW, length=100_000),
            answer(status="500 Broken", length=None),
        ],
        ids=["head", "JSON", "rows", "error"],
    )
    def test_of_bytes_ends_in_time(self, head: bytes) -> None:
        with serving(dripping(head, b" ", 0.05), timeout=0.3) as (client, _):
            for ask in (client.versions, lambda: rows(client)):
                failure(ask)

    def test_of_silence_ends_in_time(self) -> None:
        with serving(lambda connection: threading.Event().wait(30), timeout=0.3) as (client, _):
            assert isinstance(failure(client.versions), ConnectionFailed)

    def test_that_brings_enough_is_read_to_its_end(self) -> None:
        many = stream(*[pa.record_batch(CALENDAR)] * 20)

        def slow(connection: Any) -> None:
            connection.sendall(answer(kind=ARROW, length=len(many)))
            for at in range(0, len(many), 500):
                connection.sendall(many[at : at + 500])
                threading.Event().wait(0.05)

        with serving(slow, timeout=0.2) as (client, _):
            assert rows(client).num_rows == 20


def without(*names: str) -> "dict[str, Any]":
    return {name: values for name, values in CALENDAR.items() if name not in names}


class TestRows:
    @pytest.mark.parametrize(
        "columns",
        [without("cal_date"), {**CALENDAR, "is_open": ["1"]}, {**CALENDAR, "cal_date": ["20240105"]}, {"other": [1]}],
        ids=["a column missing", "text for a number", "text for a date", "others"],
    )
    def test_of_another_schema_are_an_error(self, columns: Any) -> None:
        with serving(answer(arrow(columns), kind=ARROW)) as (client, _):
            assert "trade_cal" in str(failure(lambda: rows(client)))

    def test_without_a_column_asked_for_are_an_error_and_new_columns_are_none(self) -> None:
        with serving(answer(arrow(without("is_open")), kind=ARROW)) as (client, _):
            assert client.trade_cal(fields=["cal_date", "exchange"]).arrow().num_rows == 1
            assert "is_open" in str(failure(client.trade_cal(fields="cal_date,is_open").arrow))
        with serving(answer(arrow({**CALENDAR, "new": [1]}), kind=ARROW)) as (client, _):
            assert rows(client).num_rows == 1

    def test_that_change_their_columns_or_version_on_the_way_are_an_error(self) -> None:
        first = answer(GOOD, kind=ARROW, X_Next_Cursor="a", X_Data_Version="v1")
        for more, told in (
            (answer(arrow({**CALENDAR, "new": [1]}), kind=ARROW, X_Data_Version="v1"), "other columns"),
            (answer(GOOD, kind=ARROW, X_Data_Version="v2"), "a version other"),
        ):
            with serving(first, more) as (client, _):
                assert told in str(failure(lambda: rows(client)))

    def test_of_damaged_arrow_are_an_error(self) -> None:
        for at in range(0, len(GOOD), 5):
            damaged = GOOD[:at] + bytes([GOOD[at] ^ 0xFF]) + GOOD[at + 1 :]
            with serving(answer(damaged, kind=ARROW)) as (client, _):
                try:
                    rows(client)
                except TapehouseError:
                    continue

    def test_of_a_length_that_cannot_be_are_an_error(self) -> None:
        with serving(answer(b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(1000), kind=ARROW)) as (client, _):
            failure(lambda: rows(client))


class TestNoConnection:
    def test_is_an_error_of_the_client_whatever_the_reason(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hosts = ["http://no-such-host.invalid", "http://a..b", "http://[::1", "https://127.0.0.1:9"]
        for address in [*hosts, "nonsense", "ftp://127.0.0.1", "http://"]:
            with Client(address, "the-token", retries=0, timeout=5) as client:
                assert isinstance(failure(client.versions), ConnectionFailed)
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        with Client("http://market.invalid", "the-token", retries=0) as client:
            assert isinstance(failure(client.versions), ConnectionFailed)

    def test_is_not_tried_again_where_the_address_is_wrong(self) -> None:
        with Client("nonsense", retries=6, backoff=60, longest_wait=60) as client:
            failure(client.versions)

    def test_where_plain_http_answers_for_tls(self) -> None:
        with serving(answer(VERSIONS)) as (_, server):
            with Client(server.url.replace("http:", "https:"), retries=0) as client:
                assert isinstance(failure(client.versions), ConnectionFailed)


def test_a_token_with_a_line_break_is_refused_and_not_shown() -> None:
    for token in ("secret\n", "se\rcret", "sécret"):
        with pytest.raises(ValueError) as refused:
            Client("http://127.0.0.1:9", token)
        assert "cret" not in str(refused.value)


def test_an_authority_of_the_environment_does_not_replace_that_of_the_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "theirs.pem"))
    with Client("https://127.0.0.1:9", verify=str(tmp_path / "mine.pem"), retries=0) as client:
        assert "mine.pem" in str(failure(client.versions))


def test_a_stop_in_the_middle_of_batches_closes_the_connection() -> None:
    seen: List[int] = []
    closed = threading.Event()

    batch = GOOD[len(pa.record_batch(CALENDAR).schema.serialize()) : -8]

    def act(connection: Any) -> None:
        try:
            endless(answer(kind=ARROW, length=None) + GOOD[:-8], batch)(connection)
        except OSError:
            closed.set()

    with serving(act) as (client, _):
        for one in client.trade_cal().batches():
            seen.append(one.num_rows)
            if len(seen) == 3:
                break
        assert seen == [1, 1, 1]
        assert closed.wait(20)
