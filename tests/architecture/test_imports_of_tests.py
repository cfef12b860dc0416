"""Tests import each other by full names (`tests.support.pace`).

No folder of tests is on the path, so no two files may collide by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Loaded by a harness outside this tree, by their paths.
ADAPTERS = {"conformance/cpu_adapter.py", "performance/contender.py"}
# Scripts of one folder that a harness or a lent machine runs as they lie; the tests load them as
# modules of their own.
SCRIPTS_OF_A_FOLDER = "performance/"


def _files(pattern: str) -> Iterator[tuple[str, ast.Module, str]]:
    """Return name, tree and text of the files that match the pattern.

    Parsing the other files would take seconds.
    """
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        if "solutions" not in path.parts and not name.startswith(SCRIPTS_OF_A_FOLDER):
            text = path.read_text(encoding="utf-8")
            if re.search(pattern, text, re.MULTILINE):
                yield name, ast.parse(text), text


def _changes_the_path(node: ast.AST) -> bool:
    target = (
        node.func.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        else None
    )
    if isinstance(node, ast.Assign | ast.AugAssign):
        first = node.targets[0] if isinstance(node, ast.Assign) else node.target
        target = first.value if isinstance(first, ast.Subscript) else first
    return target is not None and ast.unparse(target) == "sys.path"


def test_only_scripts_change_the_path() -> None:
    for name, tree, text in _files(r"sys\s*\.\s*path"):
        if name not in ADAPTERS and "__main__" not in text:
            assert not [node.lineno for node in ast.walk(tree) if _changes_the_path(node)], (
                f"{name} changes sys.path and is not a script"
            )


def test_helpers_are_imported_by_their_full_names() -> None:
    own = {path.stem for path in TESTS.rglob("*.py")} - {"__init__", "conftest"}
    for name, tree, _ in _files(rf"\b(from|import)\s+({'|'.join(map(re.escape, own))})\b"):
        for node in ast.walk(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            bare = [module for module in modules if module in own]
            assert not bare or name == "backends/gpu/test_gpu_device_script.py", (
                f"{name}:{getattr(node, 'lineno', 0)} imports {bare}"
            )


def test_every_folder_of_tests_is_a_package() -> None:
    with_files = {
        path.parent for path in TESTS.rglob("*.py") if not {"solutions", "data"} & set(path.parts)
    }
    folders = {
        folder
        for inner in with_files
        for folder in (inner, *inner.parents)
        if folder.is_relative_to(TESTS)
    }
    assert sorted(str(folder) for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_one_file_knows_where_the_corpora_are() -> None:
    for name, tree, _ in _files("[\"']shared[\"']"):
        divided = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        ]
        own = [
            node.lineno
            for node in divided
            if isinstance(node.right, ast.Constant) and node.right.value == "shared"
        ]
        assert not own or name == "support/corpora.py", (
            f"{name}:{own}: take SHARED of tests.support.corpora"
        )
