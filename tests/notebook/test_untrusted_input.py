"""Names, metadata, constants and paths of a module stay text in HTML, SVG, DOT and C."""

from __future__ import annotations

import base64
import html.parser
import re
import shutil
import subprocess
import xml.dom.minidom
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.explorer.page.payload import unpacked
from xla_explorer.explorer.pictures.dot import render_dot
from xla_explorer.explorer.session import Session
from xla_explorer.hlo.module import HloModule
from xla_explorer.notebook.displays import FORMS, bundle

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = "\"'><img src=x onerror=alert(1)>"
COMMENT = "*/ #error broken out /* ]]> --> {{7*7}} \\"
CONTROL = "a\x00\x1b[31m\r\n#include <evil>\u202e\ud800b"
LONG = "</title><b>" * 9_000
HOSTILE = {"short": SCRIPT + IMAGE + COMMENT + CONTROL, "long": LONG}

TEXT = """HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0), metadata={op_name="OPNAME" source_file="SOURCEFILE" source_line=3}
  s = f32[4] sort(x), dimensions={0}, to_apply=less, frontend_attributes={key="FRONTEND"}
  y = f32[4] exponential(s), metadata={op_name="OPNAME" source_file="SOURCEFILE" source_line=4}, backend_config="CONFIG"
  ROOT z = f32[4] add(y, x)
}"""
FIELDS = (
    "module",
    "computation",
    "instruction",
    "parameter",
    "OPNAME",
    "SOURCEFILE",
    "FRONTEND",
    "CONFIG",
    "filename",
)


def hostile_module(field: str, value: str) -> HloModule:
    """Return the module with a value in one field, set past the parser if its grammar has none."""
    quoted = (
        value.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\x00", "\\000")
    )
    quoted = quoted.replace("\ud800", "")
    module = xe.parse_hlo(
        TEXT.replace(field, quoted) if field.isupper() else TEXT,
        filename=value if field == "filename" else None,
    )
    if field == "module":
        module.name = value
    elif field == "computation":
        module.entry.name = value
        module.computations = {c.name: c for c in module.computations.values()}
    elif field in ("instruction", "parameter"):
        module.find("y" if field == "instruction" else "x").name = value
    for i in module.instructions():
        i._record = None
    for computation in module.computations.values():
        computation._record = None
    return module


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))


def assert_tame(page: str, *, scripts: int = 0) -> None:
    """No element and no attribute but those of our own pages."""
    tags = _Tags()
    tags.feed(page)
    names = [tag for tag, _ in tags.seen]
    assert names.count("script") == scripts
    assert not {"iframe", "object", "embed", "form", "link", "base"} & set(names)
    for tag, attributes in tags.seen:
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href", "xlink:href") or (value or "").startswith(
                ("data:image/", "#")
            ), (tag, name, value)
    assert "\x00" not in page and "\x1b" not in page
    page.encode("utf-8")  # no lone surrogate


def _html(thing: Any) -> str:
    bundle = thing._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    return str(bundle.get("text/html", ""))


def _form(name: str, thing: Any) -> str:
    return bundle(next(form for (_, kind), form in FORMS.items() if kind == name)(thing))[
        "text/html"
    ]


OUTPUTS: dict[str, Callable[[Session], str]] = {
    "session": _html,
    "trace": lambda s: _html(xe.optimize(s.source)),
    "graph": lambda s: _html(xe.graph(s)),
    "decisions": lambda s: str(s.decisions()._repr_html_()),
    "kernels": lambda s: str(s.kernels()._repr_html_()),
    "buffers": lambda s: _html(s.buffers()),
    "explanation": lambda s: _html(s.explain(s.module.entry.root)),
    "provenance": lambda s: _html(s.passes.provenance()),
    "side by side": lambda s: _html(s.side_by_side("llvm-ir-optimized")),
    "annotated": lambda s: s.annotate(measure=False).to_html(),
    "llvm ir": lambda s: _html(s.llvm_ir()),
    "assembly": lambda s: _html(s.assembly()),
    "text diff": lambda s: _html(next(p for p in s.passes if p.changed).text_diff()),
    "timing": lambda s: _html(s.time(repeats=1)),
    "rules": lambda s: str(s.passes.hot_rules()._repr_html_()),
    "module": lambda s: _form("HloModule", s.module),
    "computation": lambda s: _form("HloComputation", s.module.entry),
    "instruction": lambda s: _form("HloInstruction", s.module.entry.root),
    "stage": lambda s: _form("CompilationStage", s.stage("hlo")),
    "journal": lambda s: _form("Journal", s.passes.journal),
    "comparison": lambda s: _html(s.override(skip_rules=["fusion"]).compare(repeats=1)),
}


@pytest.fixture(scope="module")
def sessions() -> Callable[[str, str], Session]:
    made: dict[tuple[str, str], Session] = {}

    def get(field: str, kind: str) -> Session:
        if (field, kind) not in made:
            made[field, kind] = xe.compile(hostile_module(field, HOSTILE[kind]), verify=False)
        return made[field, kind]

    return get


CASES = [
    (field, kind)
    for field in FIELDS
    for kind in HOSTILE
    if kind != "long" or field in ("instruction", "module", "OPNAME")
]


@pytest.mark.parametrize(("field", "kind"), CASES)
@pytest.mark.sampled(3)
def test_html_of_every_result(
    sessions: Callable[[str, str], Session], field: str, kind: str
) -> None:
    session = sessions(field, kind)
    for name, output in OUTPUTS.items():
        made = output(session)
        assert made, name
        try:
            assert_tame(made)
        except AssertionError as problem:
            raise AssertionError(f"{name}: {problem}") from problem


@pytest.mark.parametrize(("field", "kind"), CASES)
@pytest.mark.sampled(2)
def test_the_exported_page(sessions: Callable[[str, str], Session], field: str, kind: str) -> None:
    page = sessions(field, kind).to_html()
    assert_tame(page, scripts=2)
    found = re.search(r'id="data">([^<]*)<', page)
    assert found is not None and unpacked(base64.b64decode(found.group(1)))


@pytest.mark.parametrize(("field", "kind"), CASES)
def test_svg_and_dot(sessions: Callable[[str, str], Session], field: str, kind: str) -> None:
    graph = xe.graph(sessions(field, kind))
    document = xml.dom.minidom.parseString(graph.to_svg().encode("utf-8"))
    assert not document.getElementsByTagName("script") and not document.getElementsByTagName(
        "image"
    )
    assert not [
        e
        for e in document.getElementsByTagName("*")
        for name, _ in e.attributes.items()
        if name.startswith("on")
    ]
    dot = graph.to_dot()
    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert (
        '"' not in without_strings
        and without_strings.count("{") == without_strings.count("}")
        and "alert" not in without_strings
    )
    if shutil.which("dot") and kind != "long":
        assert render_dot(dot)


@pytest.mark.skipif(
    shutil.which("gcc") is None, reason="no C compiler: generated headers are NOT compiled"
)
@pytest.mark.parametrize("field", FIELDS)
def test_c_headers(field: str, tmp_path: Path) -> None:
    xe.aot(hostile_module(field, HOSTILE["short"])).save(tmp_path)
    (header,) = tmp_path.glob("*.h")
    done = subprocess.run(
        ["gcc", "-fsyntax-only", "-x", "c", str(header)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:500]
    assert not [
        line
        for line in header.read_text().splitlines()
        if line.startswith(("#include <evil", "#error broken"))
    ]


def test_nothing_that_is_loaded_is_executed() -> None:
    """The rooms that read files and texts neither unpickle nor evaluate."""
    package = Path(xe.__file__).parent
    readers = [
        *package.glob("hlo/**/*.py"),
        *package.glob("frontends/**/*.py"),
        package / "explorer" / "sessions" / "loading.py",
    ]
    assert len(readers) > 50
    for path in readers:
        found = re.search(
            r"\b(pickle|marshal|shelve|yaml\.load)\b|(?<![\w.])(eval|exec)\(|allow_pickle=True",
            path.read_text(),
        )
        assert found is None, f"{path.name}: {found and found.group()}"
