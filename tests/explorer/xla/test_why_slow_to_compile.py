"""`why_slow_to_compile`: times are nested right, and planted causes are named with their line."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.xla.compile_time.causes import _saved_kernels, causes_of
from xla_explorer.explorer.xla.compile_time.kernel_compile import KernelCompile
from xla_explorer.explorer.xla.compile_time.recording import _stages, spans_of

MS = 10**9  # picoseconds


def test_own_time_is_without_the_events_inside():
    events = [
        ("inner", 2 * MS, 3 * MS, None),
        ("outer", 0, 10 * MS, "m"),
        ("innermost", 3 * MS, MS, None),
        ("next", 10 * MS, MS, None),
    ]
    by_name = {span.name: span for span in spans_of(events)}
    own = {name: round(span.own_s * 1e3, 6) for name, span in by_name.items()}
    assert own == {"outer": 7, "inner": 2, "innermost": 1, "next": 1}
    assert by_name["innermost"].path == ("outer", "inner") and by_name["next"].path == ()


def test_stages_add_up_to_the_whole():
    events = [
        ("backend_compile_and_load", 0, 100 * MS, None),
        ("HLO passes through layout assignment (m)", 20 * MS, 10 * MS, "m"),
        ("HLO pass inside another", 22 * MS, 2 * MS, None),
        ("ThunkEmitter::EmitEntryComputation", 40 * MS, 15 * MS, None),
        ("Codegen", 60 * MS, 30 * MS, None),
        ("JitCompiler::Compile", 61 * MS, 28 * MS, None),
    ]
    whole, *rest = spans_of(events)
    found = {name: round(seconds * 1e3, 6) for name, seconds in _stages(whole, rest).items()}
    assert found == {
        "read the program": 20, "HLO passes": 10, "kernels to LLVM IR": 15, "LLVM": 30, "rest": 25,
    }  # fmt: skip


def test_a_captured_array_and_a_folded_one_are_causes():
    text = """ENTRY m { x = f32[512,600] parameter(0) c = f32[512,600] constant({...})
      n = f32[512,600] negate(c) ROOT r = f32[512,600] add(x, n) }"""
    kinds = [one.kind for one in causes_of(xe.parse_hlo(text), 1.0, [])]
    assert kinds == ["captured-constant", "folded-constant"]


def test_a_kernel_that_takes_most_of_the_time_is_a_cause():
    module = xe.parse_hlo("ENTRY m { ROOT x = f32[4] parameter(0) }")
    times = [("big", 5.0, "a.py:1"), ("b", 1.0, ""), ("c", 1.0, ""), ("d", 1.0, "")]
    kernels = [KernelCompile(name, "add", 1, seconds, 0.0, line) for name, seconds, line in times]
    [cause] = causes_of(module, 1.0, kernels)
    assert (cause.kind, cause.line) == ("large-kernel", "a.py:1")
    assert causes_of(module, 1.0, kernels[1:]) == []


def test_a_loop_saves_the_kernels_that_differ_only_by_iteration():
    """Equal kernels are compiled once: the others have no time of LLVM."""
    lines = {"a.py:3"}
    apart = [KernelCompile(f"k{n}", "add fusion", 4, 1.0, 1.0, "a.py:3") for n in range(10)]
    assert _saved_kernels(lines, apart) == pytest.approx(20.0 - 2.0 - 3 * 2.0)
    equal = [apart[0], *[one._replace(emit_s=None, llvm_s=0.0) for one in apart[1:]]]
    assert _saved_kernels(lines, equal) < 0
    assert _saved_kernels({"b.py:1"}, apart) < 0


def test_a_loop_shortens_a_kernel_into_which_its_turns_are_fused():
    fused = KernelCompile(
        "k", "add fusion", 100, 2.0, 8.0, "a.py:9", (("a.py:3", 90), ("a.py:9", 10))
    )
    small = [KernelCompile(f"s{n}", "add", 1, 0.01, 0.01, "a.py:9") for n in range(9)]
    saved = _saved_kernels({"a.py:3"}, [fused, *small], 9.0)
    assert saved == pytest.approx(10.0 * 0.9 * 0.9 - 3 * (1.9 + 9 * 0.02) / 10)
    assert _saved_kernels({"a.py:3"}, [fused, *small]) < 0


def layer(x, w):
    """Return one of twelve equal layers."""
    import jax.numpy as jnp

    h = jnp.tanh(x @ w)
    return x + jnp.sin(h) * h


def layers(x, ws):
    """Return a network that is unrolled in Python."""
    for w in ws:
        x = layer(x, w)
    return x


@pytest.mark.jax
def test_an_unrolled_loop_is_named_with_its_line():
    x, ws = np.ones((8, 16), np.float32), [np.eye(16, dtype=np.float32)] * 12
    page = xe.xla.why_slow_to_compile(layers, x, ws)
    first = page.causes[0]
    lines, start = inspect.getsourcelines(layers)
    call = start + next(k for k, line in enumerate(lines) if "layer(x, w)" in line)
    assert first.kind == "repeated-block" and first.line.endswith(f"{__file__[-12:]}:{call}")
    assert first.share > 0.5 and "traced 12 times" in first.sentence
    assert 0 <= first.saves_s < page.seconds
    names = [one.stage for one in page.stages]
    assert {"trace", "lower", "HLO passes", "LLVM"} <= set(names)
    assert sum(one.share for one in page.stages) == pytest.approx(1)
    assert any(one.name == "fusion" for one in page.passes)
    assert any(one.emit_s for one in page.kernels) and all(one.line for one in page.kernels)
    assert list(page.to_frame().columns) == ["stage", "seconds", "share"]


@pytest.mark.jax
def test_one_that_is_a_scan_has_no_cause():
    import jax

    def scanned(x, ws):
        return jax.lax.scan(lambda x, w: (layer(x, w), None), x, ws)[0]

    x, ws = np.ones((8, 16), np.float32), np.stack([np.eye(16, dtype=np.float32)] * 12)
    page = xe.xla.why_slow_to_compile(scanned, x, ws)
    assert [one.kind for one in page.causes if one.kind == "repeated-block"] == []


@pytest.mark.jax
def test_only_a_function_can_be_compiled_anew():
    with pytest.raises(xe.XlaExplorerError, match="takes a JAX function"):
        xe.xla.why_slow_to_compile("ENTRY m { ROOT x = f32[4] parameter(0) }")
