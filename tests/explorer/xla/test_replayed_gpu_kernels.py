"""XLA:GPU's multi-output kernels and recomputation, replayed on dumps and small modules."""

from __future__ import annotations

from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.compiler.xla_gpu.multi_output import MultiOutputPlan
from xla_explorer.explorer.sessions.compilation import NotThereError
from xla_explorer.explorer.xla.replay.rematerialisation import Walk
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

DUMPS = Path(__file__).parent / "dumps"


def test_kernels_with_several_results_are_those_of_xla() -> None:
    found = xe.xla.replay(xe.load(DUMPS / "gpu_batch_norm").session(), "multi-output-fusion")
    assert len(found.rows) == 46 and found.agreement == 1
    together = {(row.subject, row.consumer) for row in found.rows if row.xla == "fused"}
    assert together == {
        ("fusion.4", "fusion.3"),
        ("fusion.14", "fusion.1"),
        ("fusion.14", "fusion"),
        ("fusion.1", "fusion"),
    }
    reasons = {(row.subject, row.consumer): row.code for row in found.rows if row.xla == "memory"}
    assert (
        reasons["fusion.12", "fusion.4"] == "dimensions-differ"
        and reasons["fusion.3", "fusion.14"] == "would-create-cycle"
    )
    assert all(row.reason for row in found.rows)


def _plan(entry: str, *bodies: str) -> tuple[MultiOutputPlan, HloModule]:
    module = parse_hlo("\n".join(["HloModule m", *bodies, f"ENTRY e {{ {entry} }}"]))
    return MultiOutputPlan(module.entry, {}), module


NEGATE = "n { p = f32[8,64] parameter(0) ROOT r = f32[8,64] negate(p) }"
ABS = "a { p = f32[8,64] parameter(0) ROOT r = f32[8,64] abs(p) }"
COLUMNS = "c { p = f32[8,32] parameter(0) ROOT r = f32[8,32] abs(p) }"


def _reason(plan: MultiOutputPlan, module: HloModule, *names: str) -> str:
    pair = [i for name in names for i in module.entry.instructions.values() if i.name == name]
    found = plan.why_not(*pair)
    return found.code if found is not None else "one kernel"


@pytest.mark.parametrize(("entry", "pair", "expected"), [
    ("x = f32[8,64] parameter(0) f = f32[8,64] fusion(x), kind=kLoop, calls=n g = f32[8,64] fusion(x), kind=kLoop, calls=a "
     "ROOT t = (f32[8,64], f32[8,64]) tuple(f, g)", ("f", "g"), "one kernel"),
    ("x = f32[8,64] parameter(0) y = f32[8,64] fusion(x), kind=kLoop, calls=n f = f32[8,64] fusion(y), kind=kLoop, calls=a "
     "ROOT t = (f32[8,64], f32[8,64]) tuple(f, y)", ("y", "f"), "one kernel"),
    ("x = f32[8,64] parameter(0) y = f32[8,64] fusion(x), kind=kLoop, calls=n ROOT f = f32[8,64] fusion(y), kind=kLoop, calls=a",
     ("y", "f"), "fused-before"),
    ("x = f32[8,64] parameter(0) f = f32[8,64] fusion(x), kind=kLoop, calls=n s = f32[8,32] slice(x), slice={[0:8], [0:32]} "
     "g = f32[8,32] fusion(s), kind=kLoop, calls=c ROOT t = (f32[8,64], f32[8,32]) tuple(f, g)", ("f", "g"), "not-a-loop"),
])  # fmt: skip
def test_each_rule_of_kernels_with_several_results(
    entry: str, pair: tuple[str, str], expected: str
) -> None:
    assert _reason(*_plan(entry, NEGATE, ABS, COLUMNS), *pair) == expected


def test_one_element_that_all_read_joins_no_kernels() -> None:
    scaled = "{0} {{ p = f32[] parameter(0) b = f32[8,64] broadcast(p), dimensions={{}} ROOT r = f32[8,64] {1}(b) }}"
    entry = ("s = f32[] parameter(0) f = f32[8,64] fusion(s), kind=kLoop, calls=u g = f32[8,64] fusion(s), kind=kLoop, calls=v "
             "ROOT t = (f32[8,64], f32[8,64]) tuple(f, g)")  # fmt: skip
    plan, module = _plan(entry, scaled.format("u", "negate"), scaled.format("v", "abs"))
    assert _reason(plan, module, "f", "g") == "not-a-loop"


def test_what_xla_computes_again_and_how_much_that_frees() -> None:
    found = xe.xla.replay(xe.load(DUMPS / "gpu_little_memory").session(), "rematerialization")
    assert found.agreement == 1 and (found.limit, found.peak, found.peak_after) == (
        17346924,
        29360128,
        20971520,
    )
    again = {row.subject: row.reason for row in found.rows if row.xla == "recomputed"}
    assert (
        set(again) == {f"gemm_fusion_dot_general.{number}" for number in (17, 19, 21)}
        and len(found.rows) == 5
    )
    assert again["gemm_fusion_dot_general.21"] == (
        "20.0 MiB are live at %loop_add_fusion.5, the limit is 16.5 MiB: %gemm_fusion_dot_general.21 is recomputed "
        "before %gemm_fusion_dot.11, which frees 4.00 MiB until then")  # fmt: skip
    assert "peak 28.0 MiB, limit 16.5 MiB; recomputed: 3 by XLA, 3 by the replay" in str(found)


CHAIN = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[256] parameter(0)
  a = f32[256] exponential(x)
  b = f32[256] tanh(a)
  c = f32[256] cosine(b)
  d = f32[256] add(c, b)
  ROOT r = f32[256] add(d, a)
}"""


def test_nothing_is_computed_again_below_the_limit() -> None:
    entry = parse_hlo(CHAIN).entry
    assert Walk(entry, 4096, {}).recomputed == [] and Walk(entry, 4096, {}).peak == 4096
    (found,) = Walk(entry, 4095, {}).recomputed
    assert (found.name, found.at, found.freed, found.held, found.reader) == (
        "a",
        "d",
        1024,
        4096,
        "r",
    )


def test_a_dump_without_the_device_says_what_is_missing(tmp_path: Path) -> None:
    for path in (DUMPS / "gpu_little_memory").glob("*.txt"):
        (tmp_path / path.name).write_text(path.read_text())
    with pytest.raises(NotThereError, match=r"does not say how much memory"):
        xe.xla.replay(xe.load(tmp_path).session(), "rematerialization")
