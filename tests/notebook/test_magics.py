"""The magics in a real IPython shell: results, names, output, completion, diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.support.malformed_modules import MALFORMED
from xla_explorer.explorer.session import Session
from xla_explorer.notebook.completion import magic_line_candidates, opcode_candidates

ADD = """HloModule plus

ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  one = f32[] constant(1)
  ones = f32[64] broadcast(one), dimensions={}
  a = f32[64] multiply(x, ones)
  ROOT b = f32[64] add(a, y)
}
"""


class Shell:
    """Runs cells and keeps what they showed."""

    def __init__(self) -> None:
        InteractiveShell.clear_instance()
        self.shell = InteractiveShell.instance()
        self.names: dict[str, Any] = self.shell.user_ns
        self.shell.run_line_magic("load_ext", "xla_explorer")

    def run(self, cell: str) -> tuple[Any, str, list[Any]]:
        """Return (result, all printed text, displayed objects)."""
        with capture_output() as captured:
            result = self.shell.run_cell(cell)
        return result, captured.stdout + captured.stderr, captured.outputs


@pytest.fixture
def shell() -> Iterator[Shell]:
    yield Shell()
    InteractiveShell.clear_instance()


def test_a_cell_binds_and_returns_its_session(shell: Shell) -> None:
    result, text, _ = shell.run("%%hlo plus\n" + ADD)
    session = shell.names["plus"]
    assert isinstance(session, Session) and result.result is session
    assert "random arguments" in text and "agrees with the evaluator" in text
    x, y = np.ones(64, np.float32), np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(session(x, y), x + y)
    shell.run("%%hlo\n" + ADD)
    assert isinstance(shell.names["_hlo"], Session)


def test_options(shell: Shell, tmp_path: Path) -> None:
    shell.names.update(x=np.ones(64, np.float32), y=np.ones(64, np.float32))
    page = tmp_path / "page.html"
    shown = "graph,passes,fusion,ir,asm,ptx,buffers,kernels,code"
    line = f"%%hlo p --passes default --backend cpu,interpreter,gpu --show {shown} --time --args x,y --save {page}\n"
    _, text, outputs = shell.run(line + ADD)
    assert "random" not in text and page.read_text().startswith("<!doctype html>")
    assert len(outputs) >= len(shown.split(",")) + 1 and any(
        "BufferReport" in o.data.get("text/html", "") for o in outputs
    )
    assert (
        shell.names["p_interpreter"].backend == "interpreter"
        and shell.names["p"].gpu() is shell.names["p_gpu"]
    )
    assert shell.names["p"].last_profile is not None
    _, text, _ = shell.run("%%hlo q --no-run --journal off --passes none\n" + ADD)
    assert "evaluator" not in text and shell.names["q"].last_profile is None


def test_line_magics(shell: Shell) -> None:
    shell.run("%%hlo a --no-run\n" + ADD)
    shell.run("%%hlo b --no-run --passes none\n" + ADD)
    result, text, _ = shell.run("%hlo_step a")
    assert "pass " in text and result.result.startswith("--- before")
    assert shell.run("%hlo_step a 0")[0].success
    assert shell.run("%hlo_step a prev")[0].success
    assert shell.run("%hlo_ask a kernels()[:1]")[0].result.total >= 1
    assert "HloModule" in str(shell.run("%hlo_ask b passes[0].text")[0].result)
    assert "multiply" in shell.run("%hlo_diff a b")[0].result
    timing = shell.run("%hlo_time -r 3 a")[0].result
    assert timing.n == 3 and timing.median_us > 0
    frame = shell.run("%hlo_passes fusion")[0].result
    assert "fusion" in set(frame["pass"])
    assert "widget" in str(type(shell.run("%hlo_explore a")[0].result)).lower()


@pytest.mark.parametrize(
    ("cell", "word"),
    [
        ("%hlo_passes zzzz", "no pass has 'zzzz'"),
        ("%%hlo --backend tpu\n" + ADD, "no backend is named 'tpu'"),
        ("%%hlo --passes algsimpp\n" + ADD, "near: algsimp"),
        ("%%hlo --show everything\n" + ADD, "invalid choice: 'everything'"),
        ("%%hlo --args nothing\n" + ADD, "no variable is named 'nothing'"),
        ("%%hlo 1x\n" + ADD, "is not a Python variable name"),
        ("%hlo_step nothing", "no variable is named 'nothing'"),
        ("%hlo_ask nothing kernels()", "no variable is named 'nothing'"),
        ("%hlo_diff a", "takes two names"),
    ],
)
def test_mistakes_in_the_line_are_one_message(shell: Shell, cell: str, word: str) -> None:
    result, text, _ = shell.run(cell)
    assert not result.success and word in text and "Traceback" not in text and ".py" not in text


@pytest.mark.parametrize(
    "kind", [kind for kind, (text, _) in MALFORMED.items() if isinstance(text, str)]
)
def test_malformed_text_is_one_caret_diagnostic(shell: Shell, kind: str) -> None:
    given, word = MALFORMED[kind]
    result, text, _ = shell.run(f"%%hlo\n{given}")  # type: ignore[str-bytes-safe]
    assert not result.success and word in text and "hint:" in text
    assert "Traceback" not in text and ".py" not in text
    assert (
        len([line for line in text.split("\n") if line.strip() and set(line.strip()) == {"^"}]) == 1
    )


def test_lines_count_as_the_cell_shows_them(shell: Shell) -> None:
    _, text, _ = shell.run("%%hlo\nHloModule m\nENTRY e {\n  ROOT b = f32[4] adddd(a, a)\n}")
    assert "<%%hlo>:4:" in text


def test_plain_calls_in_a_cell_show_no_internal_frames(shell: Shell) -> None:
    bad = MALFORMED["unknown opcode"][0]
    _, text, _ = shell.run(f"import xla_explorer as xe\nxe.parse_hlo({bad!r})")
    assert "did you mean add?" in text and "parser.py" not in text
    _, text, _ = shell.run(f"xe.load({'/nowhere/x.hlo'!r})")
    assert "cannot read /nowhere/x.hlo" in text and "loading.py" not in text


def test_help_and_completion(shell: Shell) -> None:
    _, text, _ = shell.run("%%hlo?")
    assert magic_line_candidates("%%hlo --passes default,alg") == [
        "default,algebraic-simplifier",
        "default,algsimp",
    ]
    assert magic_line_candidates("%%hlo --backend int") == ["interpreter"]
    assert "--passes" in magic_line_candidates("%%hlo --pa")
    assert "exponential" in opcode_candidates("  e = f32[4] exp") and not opcode_candidates(
        "HloModule exp"
    )
    assert text is not None


def test_annotate_unfolds_each_line_to_its_code(shell: Shell) -> None:
    result, _, outputs = shell.run("%%hlo noted --annotate\n" + ADD)
    assert result.success and result.result.last_profile is not None
    page = next(o.data["text/html"] for o in outputs if "annotated" in o.data.get("text/html", ""))
    line = page[page.index("b = f32") if "b = f32" in page else page.index("ROOT") :]
    assert (
        "<details" in page
        and "<script" not in page
        and "LLVM IR, optimised" in page
        and "rgba(230,159,0" in page
    )
    assert "fadd" in line and "float:right" in page
    listing = shell.names["noted"].annotate(measure=False)
    added = next(row for row in listing.lines if "add(a, y)" in row.text)
    assert (
        added.number == 10
        and added.time_us
        and added.share == 1.0
        and any("fadd" in text for text in added.code["llvm-ir-optimized"])
    )
    assert not next(row for row in listing.lines if row.text.startswith("HloModule")).code
    shell.run("%%hlo quiet --annotate --no-run\n" + ADD)
    assert shell.names["quiet"].last_profile is None


def test_isolate_in_the_line(shell: Shell) -> None:
    shell.run("%%hlo apart --isolate --timeout 30\n" + ADD)
    assert shell.names["apart"].isolation.timeout == 30.0
    result, text, _ = shell.run("%%hlo apart --timeout 3\n" + ADD)
    assert not result.success and "add isolate=True" in text


def test_an_interrupt_is_one_line_and_the_next_cell_runs(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination

    monkeypatch.setattr(
        DeadCodeElimination, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())
    )
    result, text, _ = shell.run("%%hlo halted\n" + ADD)
    assert (
        not result.success
        and "Interrupted" in text
        and ".py" not in text
        and "halted" not in shell.names
    )
    monkeypatch.undo()
    assert shell.run("%%hlo halted\n" + ADD)[0].success


def test_completion_of_options(shell: Shell) -> None:
    assert magic_line_candidates("%%hlo --ann") == ["--annotate"] and magic_line_candidates(
        "%%jax --exp"
    ) == ["--explore"]
    assert "cpu" in magic_line_candidates("%%jax p --backend c")


@pytest.mark.jax
def test_jax_cells_bind_a_session_for_each_program(shell: Shell) -> None:
    pytest.importorskip("jax", reason="jax is not installed: %%jax is NOT tried")
    cell = "import jax, jax.numpy as jnp\n@jax.jit\ndef energy(x):\n    return jnp.sum(jnp.sin(x) ** 2)\nvalue = energy(jnp.ones(16))"
    _, text, _ = shell.run("%%jax programs\n" + cell)
    programs = shell.names["programs"]
    assert programs.largest is programs["energy"] and "energy" in text
    assert float(shell.names["value"]) == pytest.approx(
        float(programs["energy"](np.ones(16, np.float32))), rel=1e-6
    )
    assert "energy" in repr(programs)
    assert shell.run("%%jax --show graph\n" + cell.replace("energy", "again"))[0].success
    failed, text, _ = shell.run("%%jax p\n1/0")
    assert failed.result is None and "ZeroDivisionError" in text


def test_jax_cells_say_what_is_missing(shell: Shell) -> None:
    try:
        import jax  # noqa: F401
    except ImportError:
        result, text, _ = shell.run("%%jax\n1")
        assert not result.success and "pip install" in text and "Traceback" not in text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("%hlo_step array", "array is a ndarray, neither a session nor a trace"),
        ("%hlo_step 'plus", "no closing quotation"),
        ("%%hlo plus --time --no-run\n" + ADD, "leave out --no-run, or --time"),
        ("%%hlo plus --nosuch\n" + ADD, "--help lists the arguments"),
        ("%%hlo plus --journal nosuch\n" + ADD, "choose from off, passes, decisions, everything"),
        ("%%hlo plus --no-run --save /nonexistent/page.html\n" + ADD, "/nonexistent"),
    ],
)
def test_what_a_line_asks_for_in_vain_is_said_without_frames(
    line: str, says: str, shell: Shell
) -> None:
    shell.names["array"] = np.ones((2, 2))
    result, text, _ = shell.run(line)
    assert not result.success and says in text and "Traceback" not in text and "File " not in text


def test_help_is_printed_and_nothing_is_bound(shell: Shell) -> None:
    result, text, _ = shell.run("%%hlo plus --help\n" + ADD)
    assert result.success and "--isolate" in text and "plus" not in shell.names


def test_no_difference_is_said(shell: Shell) -> None:
    shell.run("%%hlo plus --no-run\n" + ADD)
    same, _, _ = shell.run("%hlo_diff plus plus")
    assert "the same text" in str(same.result)
    quiet = next(p.number for p in shell.names["plus"].passes if not p.changed)
    unchanged, _, _ = shell.run(f"%hlo_step plus {quiet}")
    assert str(unchanged.result) == "it changed nothing"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("--shwo graph", "--show"), ("--pases none", "--passes"), ("--backnd=cpu", "--backend")],
)
def test_a_mistyped_option_names_the_nearest(shell: Shell, typed: str, meant: str) -> None:
    out, text, error = shell.run(f"%%hlo {typed}\nENTRY e {{ ROOT x = f32[4] parameter(0) }}")
    assert f"did you mean {meant}?" in f"{out}{text}{error}"


def test_a_function_of_a_stablehlo_cell_is_chosen(shell: Shell) -> None:
    body = "(%a: tensor<4xf32>) -> tensor<4xf32> {{ %0 = stablehlo.{} %a, %a : tensor<4xf32>\n return %0 : tensor<4xf32> }}\n"
    cell = "func.func @f" + body.format("add") + "func.func @g" + body.format("multiply")
    shell.run("%%hlo chosen --no-run --function g\n" + cell)
    assert shell.names["chosen"].source.entry.root.opcode.name == "multiply"
