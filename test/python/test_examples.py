"""The backtest in examples/ runs, repeats itself, and refuses gaps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "momentum.py"


def backtest(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(EXAMPLE), *options], capture_output=True, text=True)


def test_it_prints_the_same_figures_for_the_same_version() -> None:
    period = ("--start", "20240701", "--end", "20251128")
    first = backtest(*period)
    assert first.returncode == 0, first.stderr
    *figures, last = first.stdout.splitlines()
    assert last.startswith("data_version 20")
    assert len(figures) == 2 + 16 + 5
    assert backtest(*period, "--version", last.split()[1]).stdout == first.stdout


def test_what_came_later_changes_no_earlier_month() -> None:
    short, long = (backtest("--start", "20240701", "--end", end).stdout for end in ("20250701", "20251128"))
    months = [line for line in short.splitlines() if line.startswith("202")]
    assert len(months) == 11
    assert months[:10] == [line for line in long.splitlines() if line.startswith("202")][:10]


def test_a_range_without_a_holding_period_is_refused_in_one_line() -> None:
    for start, end in (("20251103", "20251128"), ("20250927", "20250928"), ("20250902", "20250930")):
        refused = backtest("--start", start, "--end", end)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("the range has no whole holding period") and refused.stderr.count("\n") == 1


def test_a_range_of_one_holding_period_is_enough() -> None:
    short = backtest("--start", "20250901", "--end", "20251013")
    assert short.returncode == 0, short.stderr
    assert len([line for line in short.stdout.splitlines() if line.startswith("202")]) == 1


def test_it_ends_where_data_is_missing() -> None:
    refused = backtest("--start", "20240701", "--end", "20251231")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert "gaps, 1 in all" in refused.stderr and "603288.SH" in refused.stderr
