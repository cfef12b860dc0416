"""The order of the rooms, and the imports that it permits: never up, never sideways.

foundation < hlo < frontends | compiler < backends < explorer
< agents | course | notebook | pjrt < cli
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.support.pace import processor_seconds
from xla_explorer.foundation.collector import collector_paused

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "xla_explorer"
LEVEL = {"foundation": 0, "hlo": 1, "frontends": 2, "compiler": 2, "backends": 3, "explorer": 4, "agents": 5, "course": 5, "notebook": 5, "pjrt": 5,
         "cli": 6}  # fmt: skip
# Heavy or optional packages, and the places that may import them at all.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "llvmlite": ("compiler/codegen/", "backends/"),
    "IPython": ("notebook/", "course/grades/graded_notebook.py"),
    "ipywidgets": ("notebook/",),
    "anywidget": ("notebook/",),
    "traitlets": ("notebook/",),
    "cuda": ("backends/gpu/",),
    "mcp": ("agents/server.py",),
    "uvicorn": ("agents/server.py",),
}
# A room looked up by name, where a plain import would point upwards; each with its reason.
BY_NAME = {
    "explorer/warming.py": "xe.warm_up loads what xe.compile imports, and says how long that took",
    "explorer/sessions/options.py": "xe.options.isolate sends runs of the evaluator to a child, by code that reads these options",
    "explorer/widget.py": "xe.explore returns the widget, which lives in the notebook room; without Jupyter the rest works",
    "cli/commands.py": "xla-explorer pjrt-plugin loads the room pjrt with its tables of the C API, which no other command needs",
    "pjrt/__init__.py": "the lists that a user reads load the compiler, which JAX's start must not",
    "__init__.py": "the facade: names of all rooms, fetched on first use",
    "__main__.py": "python -m xla_explorer is the command line",
}


@cache
def _tree(path: Path) -> ast.Module:
    with collector_paused():
        return ast.parse(path.read_text(encoding="utf-8"))


# Calls that a test looks at.
CALLED = ("import_module", "__import__", ".write(")


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and the statements inside it, without expressions (nine nodes of ten)."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, ())
        for part in inner if isinstance(inner, list) else ():
            yield from _statements(part)


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return the imports, branches and functions of a file, outer before inner.

    Calls are included if a test reads them.
    """
    wanted = (
        ast.Import | ast.ImportFrom | ast.Call | ast.If | ast.FunctionDef | ast.AsyncFunctionDef
    )
    calls = any(name in path.read_text(encoding="utf-8") for name in CALLED)
    with collector_paused():
        return tuple(
            [
                node
                for node in (ast.walk if calls else _statements)(_tree(path))
                if isinstance(node, wanted)
            ]
        )


def _files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@cache
def _imports(path: Path) -> list[tuple[int, str, bool]]:
    """(line, imported module, whether for type checkers only), in-function imports included."""
    return list(_all_imports(path))


def _all_imports(path: Path) -> Iterator[tuple[int, str, bool]]:
    nodes = _nodes(path)
    checking = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for part in node.body
        for inner in _statements(part)
    }
    here = ["xla_explorer", *path.relative_to(PACKAGE).with_suffix("").parts]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, id(node) in checking
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: -node.level]) if node.level else ""
            module = ".".join(filter(None, [base, node.module]))
            yield node.lineno, module, id(node) in checking
            if module == "xla_explorer":
                for alias in node.names:
                    yield node.lineno, f"xla_explorer.{alias.name}", id(node) in checking


def _called(node: ast.Call) -> str:
    """Return the last word of the called name."""
    return (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )


def test_imports_point_downwards() -> None:
    wrong = []
    for path in _files():
        relative = path.relative_to(PACKAGE)
        if len(relative.parts) == 1:
            continue  # the facade
        room = relative.parts[0]
        assert room in LEVEL, f"{room} is no room of the house: add it to the map and to this test"
        for line, module, _ in _imports(path):
            parts = module.split(".")
            if parts[0] != "xla_explorer" or len(parts) < 2 or parts[1] in (room, "__version__"):
                continue
            if parts[1] not in LEVEL or LEVEL[parts[1]] >= LEVEL[room]:
                text = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
                wrong.append(f"{relative}:{line}: {room} may not import {parts[1]}: {text}")
    assert not wrong, "\n".join(wrong)


ORDER_OF_EXPLORER = [
    "tables",
    "display",
    "asking",
    "pictures",
    "sessions",
    "rules",
    "questions",
    "measures",
    "advice",
    "code",
    "comparisons",
    "devices",
    "sameness",
    "xla",
    "page",
    "",
]
"""The folders of the explorer from the bottom up; files at the room's root are the last."""


def _folder_of_explorer(parts: Sequence[str]) -> str | None:
    """Return the folder of `xla_explorer.explorer.<folder>`, "" at the root, else None."""
    if tuple(parts[:2]) != ("xla_explorer", "explorer") or len(parts) < 3:
        return None
    return parts[2] if parts[2] in ORDER_OF_EXPLORER else ""


def test_imports_inside_the_explorer_point_downwards() -> None:
    """In functions, for type checkers only and by name too."""
    wrong = []
    for path in sorted((PACKAGE / "explorer").rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        mine = ORDER_OF_EXPLORER.index(relative.parts[1] if len(relative.parts) > 2 else "")
        folders = {
            p.name
            for p in (PACKAGE / "explorer").iterdir()
            if p.is_dir() and p.name != "__pycache__"
        }
        assert folders <= set(ORDER_OF_EXPLORER), (
            f"{folders - set(ORDER_OF_EXPLORER)}: say in this test where it stands"
        )
        named = [(line, module) for line, module, _ in _imports(path)]
        named += [
            (node.lineno, str(node.args[0].value))
            for node in _nodes(path)
            if isinstance(node, ast.Call)
            and _called(node) == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ]
        for line, module in named:
            folder = _folder_of_explorer(module.split("."))
            if folder is not None and ORDER_OF_EXPLORER.index(folder) > mine:
                wrong.append(
                    f"{relative}:{line}: {ORDER_OF_EXPLORER[mine]} may not import {module}"
                )
    assert not wrong, "\n".join(wrong)


def test_the_explorer_imports_no_pass() -> None:
    """The explorer reaches passes through `compiler/pipeline`, in functions and types too."""
    rooms = ("explorer", "notebook", "cli")
    found = []
    for path in [p for room in rooms for p in sorted((PACKAGE / room).rglob("*.py"))]:
        named = [(line, module) for line, module, _ in _imports(path)]
        named += [
            (n.lineno, n.value)
            for n in ast.walk(_tree(path))
            if isinstance(n, ast.Constant) and isinstance(n.value, str)
        ]
        found += [
            f"{path.relative_to(PACKAGE)}:{line}"
            for line, text in named
            if text.startswith("xla_explorer.compiler.transforms")
        ]
    assert not found, f"ask through compiler/pipeline: {', '.join(found)}"


ORDER_OF_COMPILER = [
    ("target", "decisions"),
    ("pipeline",),
    ("rewriting", "buffers", "xla_gpu", "xla_library"),
    ("codegen",),
    ("costs",),
    ("transforms",),
    ("spmd", "xla"),
]
"""The folders of the compiler from the bottom up; those of one row do not import each other."""


def _folder_of_compiler(module: str) -> str | None:
    parts = module.split(".")
    if parts[:2] != ["xla_explorer", "compiler"] or len(parts) < 3:
        return None
    # Passes that partition programs are listed with other passes, and stand above them.
    return "spmd" if parts[2:4] == ["transforms", "spmd"] else parts[2]


def test_imports_inside_the_compiler_point_downwards() -> None:
    """In functions and for type checkers only, too."""
    level = {folder: k for k, row in enumerate(ORDER_OF_COMPILER) for folder in row}
    wrong = []
    for path in sorted((PACKAGE / "compiler").rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        mine = _folder_of_compiler(".".join(["xla_explorer", *relative.with_suffix("").parts]))
        if mine is None or len(relative.parts) < 3:
            continue
        assert mine in level, f"{mine}: say in this test where it stands"
        for line, module, _ in _imports(path):
            other = _folder_of_compiler(module)
            if other is not None and other != mine and level[other] >= level[mine]:
                wrong.append(f"{relative}:{line}: {mine} may not import {module}")
    assert not wrong, "\n".join(wrong)


STRICT = ("explorer", "course", "notebook", "cli", "pjrt")


def _import_graph(strict_rooms: Sequence[str] = STRICT) -> dict[str, set[str]]:
    """Return the import graph, with imports inside functions.

    In the strict rooms, imports for type checkers count too.
    """
    names = {
        ".".join(["xla_explorer", *p.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
            ".__init__"
        ): p
        for p in _files()
    }
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        strict = name.split(".")[1:2] and name.split(".")[1] in strict_rooms
        checking = {line for line, _, only_types in _imports(path) if only_types}
        found = set()
        for node in _nodes(path):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module
                and (strict or node.lineno not in checking)
            ):
                found |= {
                    full if (full := f"{node.module}.{alias.name}") in names else node.module
                    for alias in node.names
                }
        graph[name] = {target for target in found if target in names and target != name}
    return graph


def test_no_module_is_in_a_circle() -> None:
    graph = _import_graph()
    circular = {name for name in graph if name in _reached(graph, name)}
    assert not circular, f"in a circle: {', '.join(sorted(circular))}"


# Modules of the compiler and its backends that import each other for type checkers. The list only
# shrinks: a module that leaves its circle must leave the list.
EMULATOR = "xla_explorer.backends.gpu.emulator"
CIRCLES_OF_TYPES = {
    f"{EMULATOR}.{name}"
    for name in (
        "batch",
        "counters",
        "happens_before",
        "instructions.asynchronous_copies",
        "instructions.bulk_copies",
        "instructions.memory_barriers",
        "instructions.memory_instructions",
        "instructions.warp_instructions",
        "instructions.warpgroup_products",
        "operands",
        "races",
    )
}


def test_circles_of_types_in_the_compiler_and_backends_only_shrink() -> None:
    graph = _import_graph(("compiler", "backends"))
    rooms = ("xla_explorer.compiler", "xla_explorer.backends")
    circular = {name for name in graph if name.startswith(rooms) and name in _reached(graph, name)}
    assert circular == CIRCLES_OF_TYPES


def test_no_folder_is_in_a_circle() -> None:
    """A folder and those inside it count as one, whichever of the two imports the other."""
    packages = {".".join(["xla_explorer", *p.parent.relative_to(PACKAGE).parts]) for p in _files()}
    folder_of = lambda name: name if name in packages else name.rpartition(".")[0]  # noqa: E731
    folders: dict[str, set[str]] = {}
    for name, targets in _import_graph().items():
        own = folder_of(name)
        apart = {
            other
            for other in map(folder_of, targets)
            if not f"{other}.".startswith(f"{own}.") and not f"{own}.".startswith(f"{other}.")
        }
        folders.setdefault(own, set()).update(apart)
    circular = {name for name in folders if name in _reached(folders, name)}
    assert not circular, f"in a circle: {', '.join(sorted(circular))}"


def test_imports_stand_at_the_top() -> None:
    """Few imports stand inside functions: those of optional packages or for a faster start."""
    found = []
    for path in _files():
        for function in _nodes(path):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                found += [
                    f"{path.relative_to(PACKAGE)}:{node.lineno}"
                    for node in _statements(function)
                    if isinstance(node, ast.ImportFrom)
                    and (node.module or "").startswith("xla_explorer")
                ]
    assert len(set(found)) < 60, "\n".join(sorted(set(found)))


def test_folders_and_files_stay_small() -> None:
    """A folder has at most 25 modules beside its `__init__`; a file at most 500 lines."""
    wide = [str(d) for d in {p.parent for p in _files()} if len(list(d.glob("*.py"))) > 26]
    long = [
        str(path) for path in _files() if len(path.read_text(encoding="utf-8").splitlines()) > 500
    ]
    assert not wide and not long, (wide, long)


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    work = [start]
    while work:
        new = graph.get(work.pop(), set()) - found
        found |= new
        work += new
    return found


def test_rooms_are_not_imported_by_name_in_secret() -> None:
    found = []
    for path in _files():
        relative = path.relative_to(PACKAGE).as_posix()
        found += [
            f"{relative}:{node.lineno}: {ast.unparse(node)}"
            for node in _nodes(path)
            if isinstance(node, ast.Call)
            and _called(node) == "import_module"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and str(node.args[0].value).startswith("xla_explorer.")
            and relative not in BY_NAME
        ]
    assert not found, "\n".join(found)


# Modules that are imported by a name in a variable, each from a table or for an optional package.
BY_VARIABLE = {
    "__init__.py": "the facade: a table of public names",
    "backends/__init__.py": "a table of public names",
    "backends/gpu/ptx_assembler.py": "packages of NVIDIA",
    "backends/registry.py": "entry points of backends",
    "compiler/pipeline/pass_interface.py": "the table of built-in passes",
    "compiler/spmd/partitioning/handlers/__init__.py": "its own modules",
    "explorer/comparisons/sweep/worker.py": "modules that a user's sweep names",
    "explorer/sessions/isolation/worker.py": "modules of the parent process",
    "foundation/child_start.py": "the main module of a child process",
    "foundation/optional.py": "optional packages",
    "foundation/plain_data.py": "classes in stored data",
    "hlo/__init__.py": "a table of public names",
    "pjrt/__init__.py": "a table of later names",
    "pjrt/program.py": "modules of jaxlib",
}


def test_modules_are_imported_by_a_variable_only_where_listed() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in _files()
        for node in _nodes(path)
        if isinstance(node, ast.Call)
        and _called(node) in ("import_module", "__import__")
        and node.args
        and not isinstance(node.args[0], ast.Constant)
    }
    assert found == set(BY_VARIABLE)


def test_heavy_packages_stay_in_their_rooms() -> None:
    wrong = []
    for path in _files():
        relative = path.relative_to(PACKAGE).as_posix()
        for line, module, _ in _imports(path):
            places = ONLY_IN.get(module.split(".")[0])
            if places is not None and not relative.startswith(places):
                wrong.append(
                    f"{relative}:{line}: imports {module}, which belongs to {', '.join(places)}"
                )
    assert not wrong, "\n".join(wrong)


def test_passes_never_write_to_the_journal() -> None:
    """Decisions go through PassContext and the drivers, which record and override them."""
    drivers = {"compiler/pipeline/context.py", "compiler/pipeline/runner.py"}
    found = []
    for path in sorted((PACKAGE / "compiler").rglob("*.py")):
        relative = path.relative_to(PACKAGE).as_posix()
        if relative in drivers:
            continue
        for node in _nodes(path):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "write"
            ):
                if "journal" in ast.unparse(node.func.value):
                    found.append(f"{relative}:{node.lineno}: {ast.unparse(node)[:100]}")
    assert not found, "\n".join(found)


def test_a_plain_import_is_light() -> None:
    code = (
        "import sys, time; t = time.process_time(); import xla_explorer; s = time.process_time() - t; "
        "print(s, *[m for m in ('llvmlite', 'pandas', 'IPython', 'ipywidgets', 'anywidget', 'jupyterlab', 'jax') if m in sys.modules])"
    )
    seconds, *loaded = min(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.split()
        for _ in range(3)
    )
    assert not loaded, f"import xla_explorer loads {', '.join(loaded)}"
    assert float(seconds) < processor_seconds(0.3), f"import xla_explorer takes {seconds} s"


@pytest.mark.parametrize(
    "use",
    [
        "xe.parse_hlo(T); xe.verify(xe.parse_hlo(T)); xe.evaluate(xe.parse_hlo(T), numpy.ones(4, 'f4'))",
        "xe.optimize(T, 'dce').module.to_text(); xe.graph(T).to_svg()",
    ],
)
def test_the_language_needs_neither_llvm_nor_pandas_nor_jupyter(use: str) -> None:
    code = (
        "import sys, numpy, xla_explorer as xe\nT = 'HloModule m\\nENTRY e { x = f32[4] parameter(0)\\n ROOT y = f32[4] negate(x) }'\n"
        f"{use}\nprint(*[m for m in ('llvmlite', 'pandas', 'IPython', 'anywidget') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split(), f"loads {done.stdout}"


def test_every_public_name_resolves() -> None:
    import xla_explorer as xe
    from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES

    for name in xe.__all__:
        assert getattr(xe, name) is not None, name
    assert set(xe._PRIMITIVE_TYPES) == set(PRIMITIVE_TYPES)
    assert xe.f32[2, 3].dimensions == (2, 3) and callable(xe.hlo)
    with pytest.raises(AttributeError, match="nothing"):
        _ = xe.nothing
