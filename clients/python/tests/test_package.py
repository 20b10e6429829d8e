"""The package can be installed, and its types hold."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent

USE = """
import tapehouse

with tapehouse.Client() as client:
    answer: tapehouse.Answer = client.daily(ts_code=["600519.SH"], fields=["close", "vol"], adjust="forward")
    version: str = client.pin().versions()[0]
    day: str = client.gaps("daily")[0]["gap_start"]
"""

MISUSES = {
    'client.daily(fields=["closee"])': "Literal",
    'client.daily(order="up")': "Literal",
    "client.daily(start_dae=20240101)": "start_dae",
    "client.daily(as_of=20240101)": "as_of",
    "client.index_daily(adjust='forward')": "adjust",
    "client.dayly()": "dayly",
}


def run(*command: str, cwd: Path = PACKAGE) -> str:
    done = subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def test_pip_builds_and_installs_it(tmp_path: Path) -> None:
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    assert run("-m", "pip", "wheel", *offline, "--wheel-dir", str(tmp_path), str(PACKAGE)) == ""
    (wheel,) = tmp_path.glob("tapehouse-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tapehouse/py.typed", "tapehouse/_entities.py"} <= set(names)
    target = tmp_path / "installed"
    assert run("-m", "pip", "install", *offline, "--target", str(target), str(wheel)) == ""
    script = f"import sys; sys.path.insert(0, {str(target)!r}); import tapehouse; print(tapehouse.__file__); sys.exit(1)"
    assert str(target) in run("-c", script, cwd=tmp_path)


def test_its_types_are_sound() -> None:
    assert run("-m", "mypy", "--cache-dir", str(PACKAGE / ".mypy_cache")) == ""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of mypy for correct and incorrect uses."""
    folder = tmp_path_factory.mktemp("uses")
    (folder / "use.py").write_text(USE)
    (folder / "misuse.py").write_text("import tapehouse\nclient = tapehouse.Client()\n" + "\n".join(MISUSES) + "\n")
    return run("-m", "mypy", "--strict", "use.py", "misuse.py", cwd=folder)


def test_right_use_passes(told: str) -> None:
    assert "misuse.py" in told
    assert "\nuse.py" not in "\n" + told


@pytest.mark.parametrize(("line", "names"), list(enumerate(MISUSES.values(), 3)), ids=list(MISUSES))
def test_wrong_use_is_found_by_a_type_checker(told: str, line: int, names: str) -> None:
    assert any(names in found for found in told.splitlines() if found.startswith(f"misuse.py:{line}:"))
