"""The blocks of docs/python.md and docs/quants.md run, in the order of the page, and each ends by asserting what it shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[int, str]]:
    """The line on which each block begins, and its text."""
    text = (DOCS / page).read_text(encoding="utf8")
    return [(text.count("\n", 0, found.start(1)) + 1, found[1]) for found in BLOCK.finditer(text)]


def asserts(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assert) or ".testing.assert_" in ast.unparse(statement)


@pytest.mark.parametrize("page", ["python.md", "quants.md"])
def test_page(page: str) -> None:
    found = blocks(page)
    assert len(found) > 3
    names: dict[str, Any] = {"__name__": page}
    for i, (line, text) in enumerate(found):
        tree = ast.parse("\n" * (line - 1) + text, filename=page)
        assert i == 0 or asserts(tree.body[-1]), f"{page}:{line}: the block ends without an assertion"
        exec(compile(tree, str(DOCS / page), "exec"), names)
