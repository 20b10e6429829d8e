"""Thousands of codes are one request, whose parameters are too long for a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest

from conftest import Proxy, cuts, drops, refuses
from tapehouse import Client, ProblemError

YEAR: dict[str, Any] = {"start_date": 20250101, "end_date": 20251231}

QUERY = "/api/v1/entities/daily/query"


@pytest.fixture
def codes(client: Client) -> List[str]:
    """Five thousand codes, among them all that have rows but the first, in no order."""
    known = client.stock_list(fields=["ts_code"]).pandas()["ts_code"].tolist()[1:]
    others = [f"6{number:05}.SH" for number in range(5000)]
    return sorted({*known, *others}, key=lambda code: code[::-1])


def test_their_rows_are_those_of_one_request_in_its_order_in_every_form(
    client: Client, proxy: Proxy, codes: List[str]
) -> None:
    whole = client.daily(**YEAR).pandas()
    expected = whole[whole["ts_code"].isin(codes)].reset_index(drop=True)
    assert 0 < len(expected) < len(whole)
    with Client(proxy.url, retries=0) as asking:
        answer = asking.daily(ts_code=codes, **YEAR)
        assert answer.pandas().equals(expected)
        assert answer.polars().to_pandas()["close"].equals(expected["close"])
        assert sum(batch.num_rows for batch in answer.batches()) == len(expected)
        assert answer.reader().read_all().num_rows == len(expected)
        assert asking.daily(ts_code=",".join(codes), limit=5, **YEAR).pandas().equals(expected.head(5))
        assert sum(page.arrow().num_rows for page in asking.pages("daily", limit=1000, ts_code=codes)) > len(expected)
    assert set(proxy.asked) == {QUERY}


def test_a_panel_and_changes_may_be_of_thousands_of_codes(client: Client, codes: List[str]) -> None:
    panel = client.panel(["daily:close"], codes=codes, **YEAR).arrow()
    assert panel.num_rows == client.daily(ts_code=codes, **YEAR).arrow().num_rows > 0
    version = client.versions()[0]
    assert client.changes("daily", version, ts_code=codes).arrow().num_rows == 0


def test_a_cut_answer_is_requested_again_in_its_version(client: Client, proxy: Proxy, codes: List[str]) -> None:
    expected = client.daily(ts_code=codes, **YEAR).arrow()
    proxy.faults = [cuts(0.6, framing="chunked"), drops, refuses(503, Retry_After="0")]
    with Client(proxy.url, backoff=0.001) as careful:
        answer = careful.daily(ts_code=codes, **YEAR)
        assert answer.arrow().equals(expected)
        assert answer.data_version == client.versions()[0]
    assert proxy.asked == [QUERY] * 4


def test_they_are_cached(proxy: Proxy, codes: List[str], tmp_path: Path) -> None:
    for _ in range(2):
        with Client(proxy.url, cache=tmp_path) as caching:
            assert caching.daily(ts_code=codes, **YEAR).arrow().num_rows > 0
    assert proxy.statuses == [200, 304]


def test_errors_are_reported_whether_or_not_the_body_was_read(client: Client, url: str, codes: List[str]) -> None:
    with pytest.raises(ProblemError) as refused:
        client.daily(ts_code=[*codes, "600519"]).arrow()
    assert (refused.value.code, refused.value.parameter) == ("invalid_parameter", "ts_code")
    with Client(url, "wrong", retries=0) as stranger, pytest.raises(ProblemError) as unread:
        stranger.daily(ts_code=codes).arrow()
    assert unread.value.status == 401
    with pytest.raises(ProblemError) as too_long:
        client.daily(ts_code=[f"{number:06}.SZ" for number in range(30_000)]).arrow()
    assert (too_long.value.status, too_long.value.code) == (413, "content_too_large")


def test_the_answer_to_another_query_is_requested_again(client: Client, proxy: Proxy, codes: List[str]) -> None:
    def other(handler: Any, answer: Any, body: bytes) -> None:
        handler.send_response(200)
        for name in ("Content-Type", "X-Data-Version"):
            handler.send_header(name, answer.getheader(name))
        handler.send_header("X-Answer-To", "00000000")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    proxy.faults = [other]
    with Client(proxy.url, backoff=0.001) as careful:
        assert careful.daily(ts_code=codes, limit=5).arrow().num_rows == 5
    assert proxy.asked == [QUERY, QUERY]


def test_a_list_that_can_be_iterated_once_serves_every_page(client: Client, codes: List[str]) -> None:
    pages = client.pages("daily", limit=700, ts_code=(code for code in codes), **YEAR)
    rows = sum(page.arrow().num_rows for page in pages)
    assert rows == client.daily(ts_code=codes, **YEAR).arrow().num_rows > 700


def test_repeated_values_are_sent_once(client: Client, proxy: Proxy, codes: List[str]) -> None:
    with Client(proxy.url, retries=0) as asking:
        repeated = asking.daily(ts_code=codes * 20, **YEAR).arrow()
    assert repeated.equals(client.daily(ts_code=codes, **YEAR).arrow())
