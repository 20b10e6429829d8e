"""Monthly momentum on A shares, with no look-ahead and no survivorship bias.

On the last trading day of each month, the stocks listed on that day are ranked by their half-year return, excluding
the last month. The best are held with equal weights from the close of the next trading day. The script checks for gaps
first, reads one version of the data and prints its name. With `--version` it prints the same figures again, whatever was
published since.

    export TAPEHOUSE_URL=http://127.0.0.1:8080 TAPEHOUSE_TOKEN=...
    python examples/momentum.py --start 20240701 --end 20251128
"""

from __future__ import annotations

import argparse
import sys

import pandas as pd

from tapehouse import Client

LOOKBACK = 120  # trading days
SKIPPED = 20  # the most recent of them
COST = 0.001  # fraction of the value bought or sold


def main() -> None:
    parser = argparse.ArgumentParser(description="Monthly momentum on A shares.")
    parser.add_argument("--start", required=True, help="first day, YYYYMMDD")
    parser.add_argument("--end", required=True, help="last day, YYYYMMDD")
    parser.add_argument("--top", type=int, default=5, help="stocks to hold")
    parser.add_argument("--version", help="data_version of an earlier run")
    options = parser.parse_args()

    with Client() as server:
        client = server.at(options.version) if options.version else server.pin()
        days = client.trading_days(options.start, options.end)
        if len(month_ends(days)) < 2:
            sys.exit("the range has no whole holding period: it needs two month ends, each with a trading day after it")
        first = client.shift(days[0], -LOOKBACK)
        refuse_gaps(client, first, days[-1])
        months = pd.DataFrame(run(client, first, days, options.top)).set_index("until")
        print(months.to_string(float_format="{:.6f}".format))
        print(summary(months["return"]).to_string(float_format="{:.6f}".format))
        print(f"data_version {client.data_version}")


def refuse_gaps(client: Client, first: str, last: str) -> None:
    """Exits if there is a gap, since a missing day looks like a day without movement."""
    gaps = [gap for entity in ("daily", "adj_factor") for gap in client.gaps(entity, first, last)]
    if gaps:
        sys.exit(f"the data has gaps, {len(gaps)} in all:\n{pd.DataFrame(gaps).head(20).to_string(index=False)}")


def run(client: Client, first: str, days: list[str], top: int) -> list[dict[str, object]]:
    """One row per holding period, from the day after a month end to the day after the next one."""
    prices = adjusted_closes(client, first, days[-1])
    # A stock that does not trade is valued at its last price.
    worth = prices.ffill()
    ends = month_ends(days)
    universes = universe_of(client, ends)
    rows: list[dict[str, object]] = []
    weights = pd.Series(dtype=float)
    for end, following in zip(ends, ends[1:]):
        bought, sold = next_day(days, end), next_day(days, following)
        known = prices.loc[:end]
        momentum = known.ffill().iloc[-1 - SKIPPED] / known.ffill().iloc[-1 - LOOKBACK] - 1
        trades = known.iloc[-1].notna() & prices.loc[bought].notna()
        eligible = momentum[trades & momentum.index.isin(universes[end])].dropna()
        chosen = eligible.nlargest(top).index
        # Without an eligible stock the money stays where it is, and earns nothing.
        new = pd.Series(1 / max(len(chosen), 1), index=chosen, dtype=float)
        turnover = new.sub(weights, fill_value=0).abs().sum()
        returns = worth.loc[sold, chosen] / worth.loc[bought, chosen] - 1
        gain = returns.mean() if len(chosen) > 0 else 0.0
        net = gain - COST * turnover
        rows.append({"until": sold, "eligible": len(eligible), "held": len(chosen), "turnover": turnover, "return": net})
        weights = new * (1 + returns) / (1 + gain)
    return rows


def adjusted_closes(client: Client, first: str, last: str) -> pd.DataFrame:
    """One row per trading day and one column per stock, including stocks that have since been delisted."""
    rows = client.daily(start_date=first, end_date=last, adjust="backward", fields=["trade_date", "ts_code", "close"])
    closes = rows.pandas().pivot(index="trade_date", columns="ts_code", values="close")
    return closes.reindex(pd.to_datetime(client.trading_days(first, last)))


def universe_of(client: Client, days: list[str]) -> dict[str, set[str]]:
    """The stocks listed on each day according to that day's snapshot, without those under special treatment."""
    lists = client.panel("stock_list", days, fields=["ts_code", "name", "list_date", "delist_date"]).pandas()
    ordinary = ~lists["name"].str.contains("ST|退", na=False)
    listed = (lists["list_date"] <= lists["as_of"]) & ~(lists["delist_date"] <= lists["as_of"])
    universe = lists[ordinary & listed]
    return {day: set(universe.loc[universe["as_of"] == day, "ts_code"]) for day in days}


def month_ends(days: list[str]) -> list[str]:
    """The last trading day of each month, if another trading day follows."""
    return list({day[:6]: day for day in days[:-1]}.values())


def next_day(days: list[str], day: str) -> str:
    return days[days.index(day) + 1]


def summary(returns: pd.Series) -> pd.Series:
    """Total return, annualized mean and deviation, their ratio, and the maximum drawdown."""
    value = (1 + returns).cumprod()
    mean, deviation = returns.mean() * 12, returns.std() * 12**0.5
    drawdown = (value / value.cummax().clip(lower=1) - 1).min()
    return pd.Series(
        {"total": value.iloc[-1] - 1, "mean": mean, "deviation": deviation, "ratio": mean / deviation, "drawdown": drawdown}
    )


if __name__ == "__main__":
    main()
