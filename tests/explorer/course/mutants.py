"""Mutants of the reference solutions: one small edit each, made by rules.

A check that accepts one is too weak, or the edit changes nothing.

A solution is a cell of a notebook; what else it names is taken from the notebook's other cells:
imports, functions, literals.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from tests.notebooks.course_notebooks import COURSE, exercise_cells, read, solution_cells

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_DELETED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Continue, ast.Break)
EXERCISE_OF_PART = {
    "parse": "nb01.mini", "simplify": "nb05.mini", "fuse": "nb07.mini", "allocate": "nb08.mini", "emit": "nb09.mini", "compile": "nb20.compile",
}  # fmt: skip
_LINES = 4
"""A text of as many lines is a program: its lines are left out one by one."""


class Mutant(NamedTuple):
    """what: the edit as `old -> new`, by which the list of equal ones names it.

    source: the cell.
    """

    what: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """Yield every single edit of a cell; a number distinguishes equal descriptions."""
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for edit in _edits(node):
            other = copy.deepcopy(tree)
            target = next(one for k, one in enumerate(ast.walk(other)) if k == number)
            before = _told(node)
            edit(target)
            what = getattr(edit, "what", "") or f"{before} -> {_told(target)}"
            seen[what] = seen.get(what, 0) + 1
            text = ast.unparse(ast.fix_missing_locations(other))
            found.append(Mutant(what if seen[what] == 1 else f"{what} ({seen[what]})", text))
    return found


def _edits(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """Yield the edits of one node, each a function that makes it in a copy."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        yield lambda n: n.ops.__setitem__(0, _COMPARED[type(n.ops[0])]())
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _COMPUTED:
        yield lambda n: setattr(n, "op", _COMPUTED[type(n.op)]())
    if isinstance(node, ast.BoolOp):
        yield lambda n: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
        for k in range(len(node.values)):
            yield lambda n, k=k: n.values.pop(k) if len(n.values) > 1 else None
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    if isinstance(node, ast.Constant):
        yield from _of_constants(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLED:
        yield lambda n: setattr(n.func, "id", _CALLED[n.func.id])
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("reversed", "sorted", "set")
        and node.args
    ):
        yield lambda n: setattr(n.func, "id", "list")
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        yield lambda n: setattr(n, "slice", ast.Slice())
    yield from _deletions(node)


def _deletions(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """Yield edits that each delete one statement of the node's body."""
    for field in ("body", "orelse"):
        lines = getattr(node, field, None)
        for k, line in enumerate(lines if isinstance(lines, list) else ()):
            documents = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
            if isinstance(line, _DELETED) and not documents and not isinstance(node, ast.Module):
                yield lambda n, k=k, field=field: getattr(n, field).__setitem__(k, ast.Pass())


def _of_constants(value: Any) -> Iterator[Callable[[Any], None]]:
    if isinstance(value, bool):
        yield lambda n: setattr(n, "value", not n.value)
    elif isinstance(value, int | float):
        yield lambda n: setattr(n, "value", n.value + 1)
    elif isinstance(value, str) and value.count("\n") >= _LINES:
        for k, line in enumerate(value.split("\n")):
            if line.strip() not in ("", "{", "}", "ret;") and not line.strip().startswith(
                (".reg", ".visible")
            ):

                def without(node: Any, k: int = k) -> None:
                    lines = node.value.split("\n")
                    node.value = "\n".join([*lines[:k], *lines[k + 1 :]])

                without.what = f"without {line.strip()}"  # type: ignore[attr-defined]
                yield without


def _told(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


@cache
def _cells() -> dict[str, tuple[str, str, str]]:
    """Return by exercise: the source in front of it, its solution, the checked expression."""
    solutions, found = solution_cells(), {}
    for path in COURSE:
        notebook = read(path)
        mine = exercise_cells(notebook)
        before: list[str] = []
        names: list[str] = []
        for cell in notebook.cells:
            if cell in mine:
                names.append(cell.metadata["exercise"])
            elif cell.cell_type == "code" and "check" not in cell.metadata.get("tags", ()):
                before.append(_definitions(cell.source))
        checked = {}
        for cell in notebook.cells:
            asked = re.fullmatch(r'xe\.course\.check\("(nb\d\d\.\w+)", (.+)\)', cell.source.strip())
            if asked and "check" in cell.metadata.get("tags", ()):
                checked[asked[1]] = asked[2]
        for k, name in enumerate(names):
            scope = "\n".join([*before, *[solutions[other] for other in names[:k]]])
            found[name] = (scope, solutions[name], checked[name])
    return found


def _definitions(source: str) -> str:
    """Return imports, functions and literals of a cell; nothing that computes."""
    if source.startswith("%%"):
        return ""
    lines = [line for line in source.split("\n") if not line.lstrip().startswith("%")]
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return ""
    kept = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
        or _is_literal(node)
    ]
    return "\n".join(map(ast.unparse, kept))


def _is_literal(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    try:
        ast.literal_eval(node.value)
    except ValueError:
        return False
    return True


def source_of(name: str) -> str:
    """Return an exercise's reference solution; for a part of the compiler, the written file."""
    cell = solution_cells()[name]
    return cell.split("\n", 1)[1] if cell.startswith("%%") else cell


@cache
def _scope(name: str) -> dict[str, Any]:
    scope: dict[str, Any] = {
        "__name__": "__main__"
    }  # as in a kernel, where a pass of an earlier cell is replaced
    exec(compile(_cells()[name][0], "<notebook>", "exec"), scope)
    return scope


def _other_part(name: str) -> Any:
    return answer_of(EXERCISE_OF_PART[name], source_of(EXERCISE_OF_PART[name]))


def answer_of(name: str, source: str) -> Any:
    """Return the answer that a check gets if `source` stands in the exercise's cell.

    Whatever the source raises, this does.
    """
    cell = solution_cells()[name]
    if cell.startswith("%%"):
        part: dict[str, Any] = {}
        exec(compile(source, "<mutant>", "exec"), part)
        part["part"] = _other_part  # as the notebooks' folder has them
        return part[cell.split("\n", 1)[0].removeprefix("%%writefile mini/").removesuffix(".py")]
    scope = dict(_scope(name))
    exec(compile(source, "<mutant>", "exec"), scope)
    return eval(_cells()[name][2], scope)
