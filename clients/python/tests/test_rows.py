"""Rows are the same in every form."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any, Callable

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tapehouse
from tapehouse import Client, ProblemError

YEAR: dict[str, Any] = {"start_date": 20250101, "end_date": 20251231}


def test_every_form_has_the_rows_of_the_json_answer(client: Client, json_rows: Callable[..., Any]) -> None:
    expected = json_rows("daily", start_date="20250101", end_date="20251231")
    answer = client.daily(**YEAR, dates="text")
    assert len(expected) > 1000
    assert answer.pandas().to_numpy().tolist() == expected
    assert [list(row) for row in answer.polars().iter_rows()] == expected
    assert [list(row.values()) for row in answer.arrow().to_pylist()] == expected
    assert [list(row.values()) for batch in answer.batches() for row in batch.to_pylist()] == expected


def test_compressed_rows_are_the_same_where_the_server_has_zstd(client: Client, url: str, tmp_path: Path) -> None:
    packed = client.daily(**YEAR, compression="zstd")
    try:
        packed.arrow()
    except ProblemError as problem:
        # A server on an older Node.
        assert (problem.parameter, problem.allowed) == ("compression", ("none",))
        assert "Node 22.15" in problem.detail
        return
    plain = client.daily(**YEAR)
    assert packed.arrow().equals(plain.arrow()) and packed.arrow().num_rows > 1000
    assert packed.polars().equals(plain.polars())
    assert sum(batch.num_rows for batch in packed.batches()) == plain.arrow().num_rows
    joined: dict[str, Any] = {"entities": ["daily:close", "income:total_revenue"], **YEAR}
    assert client.panel(**joined, compression="zstd").arrow().equals(client.panel(**joined).arrow())
    with Client(url, cache=tmp_path, compress=True) as cached:
        for _ in range(2):
            assert cached.daily(**YEAR, compression="zstd").arrow().equals(plain.arrow())
            assert cached.daily(**YEAR, compression="none").arrow().equals(plain.arrow())


@pytest.mark.parametrize("entity", sorted(tapehouse.ENTITIES))
def test_every_entity_has_its_method_and_the_columns_of_the_catalog(client: Client, entity: str) -> None:
    table = getattr(client, entity)(limit=50).arrow()
    known = tapehouse.ENTITIES[entity].columns
    assert table.num_rows > 0
    assert [(field.name, str(field.type)) for field in table.schema] == [
        (column.name, "date32[day]" if column.is_date else {"float64": "double"}.get(column.dtype, column.dtype))
        for column in known
    ]


def test_days_are_dates_unless_text_is_asked_for(client: Client) -> None:
    answer = client.stock_list()
    dates, text = answer.pandas(), client.stock_list(dates="text").pandas()
    assert text["list_date"].str.fullmatch(r"\d{8}").all()
    assert str(dates["list_date"].dtype).startswith("datetime64")
    assert dates["list_date"].dt.strftime("%Y%m%d").tolist() == text["list_date"].tolist()
    assert dates["delist_date"].isna().tolist() == text["delist_date"].isna().tolist()
    assert dates["delist_date"].isna().any() and dates["delist_date"].notna().any()
    assert answer.polars().schema["delist_date"] == pl.Date
    assert {str(batch.schema.field("list_date").type) for batch in answer.batches()} == {"date32[day]"}
    assert answer.reader().schema.field("snapshot_date").type == pa.date32()


def test_a_client_can_return_text_everywhere(url: str, client: Client) -> None:
    version = client.versions()[0]
    with Client(url, dates="text") as texts:
        for answer in (
            texts.daily(limit=1),
            texts.panel("daily:close", limit=1),
            texts.panel("stock_list", ["20251230", "20251231"], limit=1),
            texts.changes("daily", version),
            texts.pin().daily(limit=1),
        ):
            assert not any(pa.types.is_date(field.type) for field in answer.arrow().schema)
        assert texts.daily(limit=1, dates="date").arrow().schema.field("trade_date").type == pa.date32()
        assert texts.daily(limit=1).params == {"limit": "1"}
    for answer in (
        client.panel("daily:close", limit=1),
        client.panel("stock_list", ["20251230", "20251231"], limit=1),
        client.changes("daily", version),
    ):
        assert any(pa.types.is_date(field.type) for field in answer.arrow().schema)
    with pytest.raises(ValueError, match='use "date" or "text"'):
        Client(url, dates="iso")  # type: ignore[arg-type]


def test_polars_and_duckdb_window_by_days(client: Client) -> None:
    bars = client.daily(ts_code="600519.SH", **YEAR)
    frame = bars.polars()
    rolled = frame.rolling("trade_date", period="7d").agg(pl.len().alias("days"), pl.col("close").mean())
    rows = bars.reader()
    week = "OVER (ORDER BY trade_date RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW)"
    relation = duckdb.sql(f"SELECT count(*) {week} AS days, avg(close) {week} AS close FROM rows")
    assert relation is not None
    counted = relation.fetchnumpy()
    assert rolled["days"].to_list() == counted["days"].tolist()
    assert set(rolled["days"].to_list()) >= {4, 5}
    np.testing.assert_allclose(rolled["close"].to_numpy(), counted["close"])


@pytest.mark.parametrize(
    "day",
    [
        20250610,
        "20250610",
        "2025-06-10",
        datetime.date(2025, 6, 10),
        datetime.datetime(2025, 6, 10, 15, 0),
        pd.Timestamp("2025-06-10", tz="Asia/Shanghai"),
        np.datetime64("2025-06-10"),
        np.int64(20250610),
    ],
    ids=repr,
)
def test_a_day_may_be_given_in_any_usual_form(client: Client, day: Any) -> None:
    frame = client.daily(start_date=day, end_date=day).pandas()
    assert frame["trade_date"].unique().tolist() == [pd.Timestamp("2025-06-10")]
    assert client.daily(trade_date=[day]).pandas().equals(frame)


@pytest.mark.parametrize("no_day", [20250610.0, True, 2025, object()], ids=str)
def test_what_is_no_day_is_refused_before_it_is_sent(client: Client, no_day: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="is not a day"):
        client.daily(start_date=no_day)


def test_lists_mean_any_of_and_a_text_with_a_comma_stays_one(client: Client) -> None:
    codes = client.daily(start_date=20250610, end_date=20250610).pandas()["ts_code"].tolist()
    assert client.daily(ts_code=codes[:2], **YEAR).pandas()["ts_code"].unique().tolist() == codes[:2]
    assert client.daily(ts_code=",".join(codes[:2]), **YEAR).params["ts_code"] == ",".join(codes[:2])
    assert client.research_report(author=['张三,李"四', "王五"]).params["author"] == '"张三,李""四",王五'
    assert client.research_report(author=["张三,李四", "王五"]).arrow().num_rows == 0


def test_an_empty_list_is_refused_instead_of_meaning_everything(client: Client) -> None:
    with pytest.raises(tapehouse.ProblemError) as refused:
        client.daily(ts_code=[]).arrow()
    assert (refused.value.code, refused.value.parameter) == ("invalid_parameter", "ts_code")


def test_missing_values_can_be_asked_for(client: Client) -> None:
    delisted = client.stock_list().pandas()["delist_date"].notna().sum()
    listed = client.stock_list(delist_date=tapehouse.NULL).pandas()
    assert delisted > 0
    assert len(listed) + delisted == client.stock_list().arrow().num_rows


def test_an_answer_without_rows_has_its_columns(client: Client) -> None:
    answer = client.daily(ts_code="999999.SH", fields=["close", "ts_code"])
    assert answer.pandas().columns.tolist() == ["close", "ts_code"]
    assert answer.polars().height == 0
    assert list(answer.batches()) == []


def test_pages_are_exact_and_of_one_version(client: Client) -> None:
    pages = list(client.pages("daily", limit=700, **YEAR))
    assert {page.data_version for page in pages} == {client.versions()[0]}
    assert [page.truncated for page in pages] == [True] * (len(pages) - 1) + [False]
    assert pd.concat([page.pandas() for page in pages], ignore_index=True).equals(client.daily(**YEAR).pandas())


def test_a_limit_cuts_and_says_so(client: Client) -> None:
    answer = client.daily(limit=10, order="desc")
    assert answer.pandas()["trade_date"].iloc[0] == pd.Timestamp("2025-12-31")
    assert answer.truncated and answer.next_cursor


def test_a_limit_of_the_server_cuts_nothing_that_was_not_limited(client: Client) -> None:
    with Client(os.environ["TAPEHOUSE_LIMITED_URL"]) as limited:
        whole = limited.daily(**YEAR)
        assert whole.pandas().equals(client.daily(**YEAR).pandas())
        assert not whole.truncated
        assert limited.daily(limit=3).arrow().num_rows == 3


def test_batches_and_streams_go_to_duckdb_without_a_table(client: Client) -> None:
    answer = client.daily(**YEAR)
    rows = answer.reader()
    counted = duckdb.sql("SELECT count(*) FROM rows")
    assert counted is not None and counted.fetchall() == [(answer.arrow().num_rows,)]
    assert pl.DataFrame(answer).height == answer.arrow().num_rows


def test_adjusted_prices_are_those_of_the_factors(client: Client) -> None:
    raw, adjusted, factors = (
        client.daily(**YEAR).pandas(),
        client.daily(adjust="backward", **YEAR).pandas(),
        client.adj_factor(**YEAR).pandas(),
    )
    merged = raw.merge(factors, on=["ts_code", "trade_date"], how="left")
    np.testing.assert_allclose(adjusted["close"], merged["close"] * merged["adj_factor"], rtol=1e-12)


def test_a_panel_has_what_was_known_on_each_day(client: Client) -> None:
    days = ["20250331", datetime.date(2025, 6, 30), 20251231]
    panel = client.panel("fina_indicator", days, fields=["ts_code", "end_date", "roe"]).pandas()
    assert panel.columns.tolist() == ["as_of", "ts_code", "end_date", "roe"]
    assert panel["as_of"].dt.strftime("%Y%m%d").unique().tolist() == ["20250331", "20250630", "20251231"]
    alone = client.fina_indicator(as_of=20250630, fields=["ts_code", "end_date", "roe"]).pandas()
    assert panel[panel["as_of"] == "20250630"].drop(columns="as_of").reset_index(drop=True).equals(alone)
    dates = client.panel("index_member", days).pandas()
    assert (dates["in_date"] <= dates["as_of"]).all()


def test_a_panel_of_days_may_be_of_one_day_in_any_form(client: Client) -> None:
    fields = ["ts_code", "end_date", "roe"]
    expected = client.panel("fina_indicator", ["20250630"], fields=fields).pandas()
    assert expected.columns.tolist() == ["as_of", *fields] and expected["as_of"].unique().tolist() == [pd.Timestamp("2025-06-30")]
    shanghai, utc = pd.Timestamp("2025-06-30", tz="Asia/Shanghai"), pd.Timestamp("2025-06-29T16:00Z")
    for day in ("20250630", "2025-06-30", 20250630, shanghai, utc, pd.DatetimeIndex([shanghai])):
        assert client.panel("fina_indicator", day, fields=fields).pandas().equals(expected)


def test_a_panel_of_days_says_where_a_limit_ended_it(client: Client) -> None:
    days = pd.to_datetime(["2025-03-31", "2025-06-30"]).tz_localize("Asia/Shanghai")
    page = client.panel("fina_indicator", days, limit=3)
    assert page.arrow().num_rows == 3 and page.truncated
    whole = client.panel("fina_indicator", days).arrow()
    rest = client.panel("fina_indicator", days, cursor=page.next_cursor).arrow()
    assert page.arrow().num_rows + rest.num_rows == whole.num_rows


def test_a_panel_joins_entities_by_stock_and_day(client: Client) -> None:
    fields = ["daily:close", "daily_basic:pe", "income:end_date"]
    asked: dict[str, Any] = {"start_date": pd.Timestamp("2025-06-02", tz="UTC"), "end_date": "20250613"}
    asked["codes"] = ["600519.SH", "000001.SZ"]
    wide = client.panel(fields, **asked).pandas()
    assert wide.columns.tolist() == ["ts_code", "trade_date", "daily.close", "daily_basic.pe", "income.end_date"]
    bars = client.daily(start_date=20250602, end_date=20250613, ts_code=["600519.SH", "000001.SZ"]).pandas()
    assert wide["daily.close"].tolist() == bars["close"].tolist()
    assert wide["trade_date"].tolist() == bars["trade_date"].tolist()
    assert (wide["income.end_date"].dropna() < wide["trade_date"]).all()
    long = client.panel("daily:close,daily_basic:pe", layout="long", **asked).pandas()
    assert long.columns.tolist() == ["ts_code", "trade_date", "field", "value"]
    assert long["value"][::2].tolist() == wide["daily.close"].tolist()
    page = client.panel(fields, limit=2, **asked)
    assert page.arrow().num_rows == 2 and page.truncated
    limited = tapehouse.Client(os.environ["TAPEHOUSE_LIMITED_URL"]).panel(fields, start_date=20250602, end_date=20250731)
    assert limited.pandas().equals(client.panel(fields, start_date=20250602, end_date=20250731).pandas())


def test_a_panel_refuses_what_it_cannot_do(client: Client) -> None:
    with pytest.raises(ValueError, match="needs days"):
        client.panel("index_member", [])
    with pytest.raises(TypeError, match="leave as_of out"):
        client.panel("index_member", ["20250630"], as_of="20250630")
    with pytest.raises(TypeError, match=r"use \.pandas"):
        client.panel("index_member", ["20250630"], format="csv")
    with pytest.raises(TypeError, match="one entity"):
        client.panel(["daily:close"], ["20250630"])  # type: ignore[call-overload]
    with pytest.raises(tapehouse.ProblemError, match="daily:close"):
        client.panel("daily:colse").arrow()


def test_a_pinned_client_names_its_version_in_every_read(client: Client) -> None:
    version = client.versions()[0]
    with client.pin() as pinned:
        assert pinned.data_version == version
        assert pinned.daily(limit=1).params["data_version"] == version
        assert pinned.daily(limit=1).arrow().num_rows == 1
        assert pinned.calendar(20250101, 20250105) == client.calendar(20250101, 20250105)
        assert pinned.pin().data_version == version
        with pytest.raises(ValueError, match="pinned"):
            pinned.daily(data_version="2020-01-01T00:00:00.000+08:00")
    assert client.daily(limit=1).arrow().num_rows == 1
    with pytest.raises(tapehouse.ProblemError) as refused:
        client.at("2020-01-01T00:00:00.000+08:00").daily().arrow()
    assert refused.value.code == "unknown_version"


def test_changes_between_versions(client: Client) -> None:
    version = client.versions()[0]
    changes = client.changes("daily", version, start_date=20250101, ts_code="600519.SH")
    names = ["change", "ts_code", "trade_date", "column", "before", "after"]
    assert list(changes.pandas().columns) == names
    assert (len(changes.pandas()), changes.data_version) == (0, version)
    assert client.pin().changes("stk_auction", version).arrow().num_rows == 0


def test_statistics_of_columns(client: Client) -> None:
    found = client.statistics("daily", ["ts_code", "trade_date"])
    rows = client.daily(fields=["ts_code", "trade_date"], dates="text").pandas()
    assert (found["entity"], found["data_version"], found["rows"]) == ("daily", client.versions()[0], len(rows))
    for column in found["columns"]:
        values = rows[column["name"]]
        assert (column["nulls"], column["distinct"]) == (0, values.nunique())
        assert (column["min"], column["max"], column["last"]) == (values.min(), values.max(), rows["trade_date"].max())
    with client.pin() as pinned:
        assert [column["name"] for column in pinned.statistics("daily", "vol")["columns"]] == ["vol"]


def test_calendar_gaps_catalog_and_health(client: Client) -> None:
    days = client.trading_days(20250101, "2025-01-10")
    assert days == [d["cal_date"] for d in client.calendar(20250101, 20250110) if d["is_open"] == 1]
    assert client.shift(days[0], 2) == days[2]
    assert client.gaps("daily", 20250101, 20250110) == []
    gap = {"entity": "daily", "ts_code": "603288.SH", "gap_start": "20251230", "gap_end": "20251231", "kind": "timeout"}
    assert client.gaps("daily", ts_code="603288.SH") == [gap]
    with pytest.raises(tapehouse.ProblemError, match="it has 2 values, and takes one here"):
        client.gaps("daily", ts_code=["603288.SH", "600519.SH"])  # type: ignore[arg-type]
    assert client.gaps("weekly") == []
    assert client.gaps("weekly", excused=True) == [{**gap, "entity": "weekly", "reason": "no trades"}]
    meta = client.meta()
    assert set(meta["entities"]) == set(tapehouse.ENTITIES)
    assert client.health()["status"] == "ok"
    assert meta["data_version"] == client.versions()[0]
