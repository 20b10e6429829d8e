"""SQL has the rows of the server, with real dates and values; a result is complete or an exception."""

from __future__ import annotations

import datetime
import decimal
import os
import threading
from pathlib import Path
from typing import Any, Iterator, List

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tapehouse
from conftest import Fault, Proxy, cuts, drops, passes, refuses, shortens
from tapehouse import Client, IncompleteAnswer, ProblemError, TapehouseError

MEAN = "SELECT trade_date, avg(close) AS close, count(*) AS n FROM daily WHERE trade_date >= $from GROUP BY 1 ORDER BY 1"
FROM = {"from": datetime.date(2025, 6, 3)}
DAILY = "FROM daily ORDER BY trade_date, ts_code"


@pytest.fixture
def careful(proxy: Proxy) -> Iterator[Client]:
    with Client(proxy.url, retries=3, backoff=0.001) as client:
        yield client


def test_a_statement_has_the_rows_of_its_entity_in_every_form(client: Client) -> None:
    answer, rows = client.sql(DAILY), client.daily().arrow()
    assert answer.arrow().equals(rows) and rows.num_rows > 1000
    assert answer.polars().equals(client.daily().polars())
    assert answer.pandas().equals(client.daily().pandas())
    assert pa.Table.from_batches(answer.batches()).equals(rows)
    assert answer.reader().read_all().equals(rows)
    assert pl.DataFrame(client.sql(DAILY)).equals(answer.polars())
    assert answer.data_version == client.versions()[0] and not answer.truncated


def test_days_are_dates_unless_text_is_asked_for(client: Client, url: str) -> None:
    frame = client.sql(MEAN, FROM).pandas()
    assert str(frame["trade_date"].dtype).startswith("datetime64")
    assert frame["trade_date"].min() == pd.Timestamp(FROM["from"])
    assert client.sql(MEAN, FROM).polars().schema == {"trade_date": pl.Date, "close": pl.Float64, "n": pl.Int64}
    text = client.sql(MEAN, FROM, dates="text").pandas()
    assert text["trade_date"].tolist() == frame["trade_date"].dt.strftime("%Y%m%d").tolist()
    with Client(url, dates="text") as texts:
        assert texts.sql(MEAN, FROM).arrow().schema.field("trade_date").type == pa.string()


DAY = datetime.date(2025, 6, 10)


@pytest.mark.parametrize(
    "day",
    [
        DAY,
        datetime.datetime(2025, 6, 10, 15, 30),
        datetime.datetime(2025, 6, 9, 20, 0, tzinfo=datetime.timezone.utc),
        pd.Timestamp(DAY),
        np.datetime64("2025-06-10"),
        np.datetime64("2025-06-10T09:30"),
        pa.scalar(DAY),
        "20250610",
        "2025-06-10",
    ],
    ids=repr,
)
def test_a_day_is_a_parameter_in_every_form(client: Client, day: Any) -> None:
    count = "SELECT count(*) AS n FROM daily WHERE trade_date = $day"
    expected = client.daily(start_date=DAY, end_date=DAY).arrow().num_rows
    assert client.sql(count, {"day": day}).arrow().to_pylist() == [{"n": expected}]
    assert expected > 0


@pytest.mark.parametrize(
    "value, expected",
    [
        ("it's $x", "it's $x"),
        ("贵州茅台", "贵州茅台"),
        (3, 3),
        (1.5, 1.5),
        (True, 1),
        (None, None),
        (decimal.Decimal("1.25"), 1.25),
        (np.int32(3), 3),
        (np.float32(1.5), 1.5),
        (np.bool_(True), 1),
        (np.str_("x"), "x"),
        (pa.scalar(7), 7),
    ],
    ids=repr,
)
def test_a_value_is_taken_for_what_it_is(client: Client, value: Any, expected: Any) -> None:
    assert client.sql("SELECT $x AS x", {"x": value}).arrow().to_pylist() == [{"x": expected}]


@pytest.mark.parametrize(
    "days",
    [
        [DAY, datetime.date(2025, 6, 11)],
        (day for day in ("2025-06-10", "2025-06-11")),
        pd.date_range("2025-06-10", periods=2),
        pd.Series(pd.date_range("2025-06-10", periods=2)),
        np.array(["2025-06-10", "2025-06-11"], dtype="datetime64[D]"),
        pl.Series([DAY, datetime.date(2025, 6, 11)]),
        pa.array([DAY, datetime.date(2025, 6, 11)]),
    ],
    ids=lambda days: type(days).__name__,
)
def test_a_list_is_a_parameter_in_every_form(client: Client, days: Any) -> None:
    count = "SELECT count(DISTINCT trade_date) AS n FROM daily WHERE trade_date::VARCHAR IN $days"
    assert client.sql(count, {"days": days}).arrow().to_pylist() == [{"n": 2}]


def test_a_list_of_codes_may_be_long(client: Client) -> None:
    codes = {"600519.SH", *(f"{code:06}.SZ" for code in range(5000))}
    count = client.sql("SELECT count(DISTINCT ts_code) AS n FROM daily WHERE ts_code IN $codes", {"codes": codes})
    frame = client.daily(fields=["ts_code"]).polars()
    assert count.arrow().to_pylist() == [{"n": len(codes & set(frame["ts_code"]))}]


def test_no_row_has_one_of_no_codes(client: Client) -> None:
    count = client.sql("SELECT count(*) AS n FROM daily WHERE ts_code IN $codes", {"codes": []})
    assert count.arrow().to_pylist() == [{"n": 0}]


@pytest.mark.parametrize(
    "value, error, said",
    [
        (object(), TypeError, "x is of type object: use text, numbers, booleans, days"),
        ({"a": 1}, TypeError, "of type dict"),
        (b"x", TypeError, "of type bytes"),
        (datetime.time(9, 30), TypeError, "of type time"),
        (pd.NA, TypeError, "of type NAType"),
        ([1, "a"], TypeError, "the list x must have only texts, only numbers"),
        ([1, None], TypeError, "the list x must have"),
        ([[1]], TypeError, "of type list"),
        (float("nan"), ValueError, "x is not a finite number; None is a missing value"),
        (decimal.Decimal("Infinity"), ValueError, "not a finite number"),
        (pd.NaT, ValueError, "x is not a day; None is a missing value"),
        (1 << 60, ValueError, r"beyond ±2\^53; send it as text and cast it: \$x::HUGEINT"),
    ],
    ids=repr,
)
def test_another_value_is_refused_before_it_is_sent(client: Client, value: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        client.sql("SELECT $x AS x", {"x": value})


def test_a_mistake_is_told_with_its_place(client: Client) -> None:
    with pytest.raises(ProblemError) as refused:
        client.sql("SELECT close\nFROM dialy").arrow()
    problem = refused.value
    assert (problem.status, problem.code, problem.line, problem.column) == (400, "invalid_sql", 2, 6)
    assert problem.hint == "did you mean daily?" and "dialy" in problem.detail and "daily" in problem.allowed
    with pytest.raises(ProblemError) as refused:
        client.sql("SELECT 1 AS one", {"x": 1}).arrow()
    assert (refused.value.line, refused.value.column) == (None, None)


def test_a_token_without_the_right_is_refused(url: str) -> None:
    with Client(url, os.environ["TAPEHOUSE_DAILY_TOKEN"]) as client, pytest.raises(ProblemError) as refused:
        client.sql("SELECT 1 AS one").arrow()
    assert (refused.value.code, refused.value.status) == ("forbidden", 403)


def test_a_limit_says_if_there_are_more_rows(client: Client) -> None:
    some, all_ = client.sql(DAILY, limit=5), client.sql("SELECT 1 AS one", limit=5)
    assert (some.arrow().num_rows, some.truncated) == (5, True)
    assert (all_.arrow().num_rows, all_.truncated) == (1, False)


def test_a_result_that_the_server_limits_is_an_error_unless_a_limit_is_set() -> None:
    with Client(os.environ["TAPEHOUSE_LIMITED_URL"]) as limited:
        with pytest.raises(TapehouseError, match="set a limit="):
            limited.sql(DAILY).arrow()
        with pytest.raises(TapehouseError, match="set a limit="):
            list(limited.sql(DAILY).batches())
        assert limited.sql(DAILY, limit=400).arrow().num_rows == 400
        assert limited.sql("SELECT count(*) AS n FROM daily").arrow().num_rows == 1


def test_a_pinned_client_reads_its_version(client: Client) -> None:
    pinned = client.pin()
    answer = pinned.sql(MEAN, FROM)
    assert answer.arrow().equals(client.sql(MEAN, FROM, data_version=pinned.data_version).arrow())
    assert answer.data_version == pinned.data_version
    with pytest.raises(ProblemError) as refused:
        client.at("2020-01-01T00:00:00.000+08:00").sql("SELECT 1 AS one").arrow()
    assert refused.value.code == "unknown_version"


CUTS = [*(cuts(part, framing=framing) for part in (0.0, 0.5, 0.99) for framing in ("length", "chunked")), shortens(8)]


@pytest.mark.parametrize("fault", CUTS)
def test_a_cut_result_is_requested_again_as_a_whole(
    client: Client, careful: Client, proxy: Proxy, fault: Fault
) -> None:
    proxy.faults = [fault, drops, refuses(503)]
    assert careful.sql(DAILY).arrow().equals(client.sql(DAILY).arrow())
    assert len(proxy.asked) == 4


def test_a_stream_that_is_cut_after_its_first_rows_is_an_error(careful: Client, proxy: Proxy) -> None:
    """The statement may return its rows in another order the next time."""
    proxy.faults = [refuses(503), cuts(0.9, framing="chunked")]
    rows = 0
    with pytest.raises(IncompleteAnswer):
        for batch in careful.sql("FROM range(100_000) AS numbers(i)").batches():
            rows += batch.num_rows
    assert rows > 0 and len(proxy.asked) == 2


def test_it_gives_up_where_results_are_cut_again_and_again(careful: Client, proxy: Proxy) -> None:
    proxy.faults = [cuts(0.9, framing="chunked")] * 10
    with pytest.raises(IncompleteAnswer):
        careful.sql(DAILY).arrow()
    assert len(proxy.asked) == 4


def test_a_statement_that_needs_too_much_is_not_run_again(careful: Client, proxy: Proxy) -> None:
    with pytest.raises(ProblemError) as refused:
        careful.sql("SELECT repeat('x', 100000) AS x FROM range(1000) r(i)", limit=999).arrow()
    assert (refused.value.status, refused.value.code, len(proxy.asked)) == (503, "out_of_room", 1)


def test_the_result_of_another_statement_is_requested_again(client: Client, careful: Client, proxy: Proxy) -> None:
    def mixes(handler: Any, answer: Any, body: bytes) -> None:
        handler.send_response(200)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "x-answer-to"):
                handler.send_header(name, value)
        handler.send_header("X-Answer-To", "00000000")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    proxy.faults = [mixes, passes]
    assert careful.sql(MEAN, FROM).arrow().equals(client.sql(MEAN, FROM).arrow())
    assert len(proxy.asked) == 2


def test_a_result_of_other_types_is_no_response_of_tapehouse(careful: Client, proxy: Proxy) -> None:
    table = pa.table({"x": pa.array([1], pa.int8())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    proxy.faults = [lambda handler, answer, body: passes(handler, answer, sink.getvalue().to_pybytes())]
    with pytest.raises(TapehouseError, match="another type or repeated: .*x"):
        careful.sql("SELECT 1 AS x").arrow()


@pytest.mark.parametrize("place", [True, "folder"])
def test_a_cached_result_is_transferred_once_for_each_statement_and_its_values(
    proxy: Proxy, tmp_path: Path, place: Any
) -> None:
    with Client(proxy.url, cache=place if place is True else tmp_path) as caching:
        first = caching.sql(MEAN, FROM).arrow()
        assert caching.sql(MEAN, FROM).arrow().equals(first)
        later = caching.sql(MEAN, {"from": "20250701"}).arrow()
        assert 0 < later.num_rows < first.num_rows
        assert proxy.statuses == [200, 304, 200]
        for _ in range(2):
            some = caching.sql(MEAN, FROM, limit=1)
            assert (some.arrow().num_rows, some.truncated) == (1, True)
        assert caching.pin().sql(MEAN, FROM).arrow().equals(first)


def test_threads_and_forked_processes_run_statements_on_one_client(client: Client) -> None:
    expected = client.sql(MEAN, FROM).arrow()
    found: List[Any] = []
    threads = [threading.Thread(target=lambda: found.append(client.sql(MEAN, FROM).arrow())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(table.equals(expected) for table in found)
    child = os.fork()
    if child == 0:
        os._exit(0 if client.sql(MEAN, FROM).arrow().equals(expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert client.sql(MEAN, FROM).arrow().equals(expected)


def test_a_compressed_result_is_the_same(client: Client, url: str) -> None:
    with Client(url, compress=True) as compressing:
        assert compressing.sql(DAILY).arrow().equals(client.sql(DAILY).arrow())
    assert isinstance(client.sql("SELECT 1 AS one"), tapehouse.SqlAnswer)
