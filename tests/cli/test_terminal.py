"""No text of a user's file reaches a terminal as a control sequence, in commands or results."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.cli.main import main
from xla_explorer.cli.output import fitted_table
from xla_explorer.cli.terminal import cleaned_output, print_exactly

# Clear the screen, set its title, a C1 control sequence, bell, return, a right-to-left override and
# an isolate.
HOSTILE = "\x1b[2J\x1b]0;pwn\x07\x9b31m\r\u202etxt\u2066\x7f"
TEXT = f"""HloModule m
ENTRY e {{
  x = f32[64] parameter(0), metadata={{op_name="{HOSTILE}" source_file="{HOSTILE}.py" source_line=3}}
  y = f32[64] exponential(x), metadata={{op_name="{HOSTILE}/y"}}
  z = f32[64] add(y, x), frontend_attributes={{a="{HOSTILE}"}}
  c = f32[64] custom-call(z), custom_call_target="{HOSTILE}"
  ROOT r = f32[64] multiply(c, z)
}}
"""
PLAIN = TEXT.replace(f'custom-call(z), custom_call_target="{HOSTILE}"', "negate(z)")
ALLOWED = "\n\t"


def harmful(text: str) -> list[str]:
    return sorted({hex(ord(c)) for c in text if not c.isprintable() and c not in ALLOWED})


COMMANDS = (
    "run", "run --check", "run --json", "run --time --repeats 1", "opt", "opt --trace", "opt --format long", "opt --json", "explain",
    "explain --json", "explain y z", "explain z --json", "explain no\x1b[31m", "compare --repeats 1", "bench --repeats 1", "report",
)  # fmt: skip


@pytest.mark.parametrize(
    ("command", "text"),
    [
        *[pytest.param(c, PLAIN, id=ascii(c)) for c in COMMANDS],
        *[
            pytest.param(c, TEXT, id=f"{c} of an unknown call")
            for c in ("run", "opt", "explain c", "aot")
        ],
    ],
)
def test_no_command_prints_controls(command, text, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.hlo").write_text(text, encoding="utf-8")
    monkeypatch.setattr(
        "xla_explorer.cli.terminal.CleanedStream.isatty", lambda self: True, raising=False
    )
    name, *options = command.split()
    main([name, "m.hlo", *options])
    seen = capsys.readouterr()
    assert harmful(seen.out) == [] and harmful(seen.err) == []
    assert seen.out or seen.err
    if "--json" in options and seen.out:
        json.loads(seen.out)


def test_a_module_goes_into_a_pipe_to_the_letter() -> None:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.stdout", out)
        with cleaned_output():
            print_exactly("a\u202eb")
            print("a\u202eb")
    assert out.getvalue() == "a\u202eb\na\\u202eb\n"


def shown_by(value: object) -> list[tuple[str, str]]:
    found = [("repr", repr(value))]
    if not isinstance(value, str):
        found.append(("str", str(value)))
    if hasattr(value, "_repr_mimebundle_"):
        found += [
            (kind, text)
            for kind, text in value._repr_mimebundle_().items()
            if isinstance(text, str)
        ]
    if hasattr(value, "_repr_html_"):
        found.append(("html", value._repr_html_()))
    return found


@pytest.fixture(scope="module")
def session() -> xe.Session:
    """For questions that change nothing; what runs a program compiles one of its own."""
    return xe.compile(PLAIN)


def own() -> xe.Session:
    return xe.compile(PLAIN)


RESULTS = {
    "session": lambda s: s, "module": lambda s: s.module, "source": lambda s: s.source, "computation": lambda s: s.source.entry,
    "instruction": lambda s: s.source.entry.root, "decisions": lambda s: s.decisions(), "rules": lambda s: s.decisions("rule"),
    "explanation": lambda s: s.explain("z"), "answer": lambda s: s.why_not("fusion", "y", "z"),
    "applicable": lambda s: s.passes.applicable("z"), "provenance": lambda s: s.passes.provenance(), "history": lambda s: s.passes.history("z"),
    "side_by_side": lambda s: s.side_by_side("llvm-ir-optimized"), "annotated": lambda s: s.annotate(measure=False),
    "buffers": lambda s: s.buffers(), "graph": lambda s: xe.graph(s), "trace": lambda s: xe.optimize(s.source), "pass": lambda s: s.passes.record.steps[0],
    "frame": lambda s: s.passes.to_frame(), "journal": lambda s: s.passes.journal, "events": lambda s: s.passes.journal.events,
    "signature": lambda s: s.signature, "difference": lambda s: xe.compare.structure(s.source, s.module),
    "text_diff": lambda s: s.passes[-1].text_diff(), "fusions": lambda s: xe.compare.fusions(s.source, policies=("time", "xla")),
    "aot": lambda s: xe.aot(s.source, prefix="m"), "bisection": lambda s: s.bisect(), "profile": lambda _: own().profile(repeats=1),
    "compare": lambda s: own().compare(s, np.zeros(64, np.float32), repeats=1), "override": lambda s: s.override(forbid=[("fusion", "y", "z")]).overrides(),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_no_result_shows_controls(name: str, session: xe.Session) -> None:
    for kind, text in shown_by(RESULTS[name](session)):
        assert harmful(text) == [], kind


def test_a_page_shows_what_reorders_lines(session: xe.Session) -> None:
    from xla_explorer.explorer.page.payload import build_payload, packed, unpacked

    page = session.to_html()
    assert harmful(page) == []
    data = json.dumps(
        unpacked(packed(build_payload(session._explorer_source_(), complete=True))),
        ensure_ascii=False,
    )
    assert "\u202e" not in data and "\\u202etxt" in data


COLUMNS = ["kernel", "opcode", "runs_on", "median_us", "bytes", "flops", "line"]
ROWS = [
    [f"%fusion.{k}", "fusion", "kernel", 1.5 * k, 10**k, 10**k, "model.py:12"] for k in range(9)
]


def test_wide_tables_continue_below() -> None:
    whole = fitted_table(COLUMNS, ROWS)
    assert whole.count("\n") == len(ROWS) and fitted_table(COLUMNS, ROWS, width=200) == whole
    for width in (40, 50, 60):
        text = fitted_table(COLUMNS, ROWS, width=width)
        parts = text.split("\n\n")
        assert max(map(len, text.splitlines())) <= width and len(parts) > 1
        assert all(part.startswith("kernel") and "%fusion.8" in part for part in parts)
        assert all(name in text for name in COLUMNS)


def test_a_profile_fits_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("m.hlo")
    path.write_text("ENTRY e { x = f32[8] parameter(0)\n ROOT r = f32[8] tanh(x) }")
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["run", str(path), "--time", "--repeats", "1", "--backend", "interpreter"]
    assert main(arguments) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) > 80  # a pipe has whole lines
    monkeypatch.setattr("xla_explorer.cli.output.on_terminal", lambda: True)
    assert main(arguments) == 0
    table = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert max(map(len, table)) <= 80


def test_the_tour_opens_its_page_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("xla_explorer.cli.commands.run_tour", lambda *_, **__: 0)
    monkeypatch.setattr("xla_explorer.cli.commands.webbrowser.open", opened.append)
    page = tmp_path / "page.html"
    assert main(["tour", "-o", str(page)]) == 0 and not opened
    monkeypatch.setattr("xla_explorer.cli.commands.on_terminal", lambda: True)
    assert main(["tour", "-o", str(page)]) == 0
    assert main(["tour", "-o", str(page), "--no-browser"]) == 0
    assert opened == [page.as_uri()]
