"""Differences that the ledger may explain, and the texts that it runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.properties.text_checks import Setting, check_run
from tests.properties.value_classes import rounds_only
from xla_explorer.backends.llvm import early_objects
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.hlo.text import parse_hlo

PLAIN = Setting("none", 1, 15000.0, "", "none")
REDUCED = """HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
f {
  p = f32[16,N] parameter(0) z = f32[] constant(0) r = f32[16] reduce(p, z), dimensions={1}, to_apply=add
  w = f32[16,N] broadcast(r), dimensions={0} ROOT m = f32[16,N] multiply(p, w)
}
ENTRY e { p = f32[16,N] parameter(0) ROOT t = f32[16,N] fusion(p), kind=kLoop, calls=f }
"""


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_run` sets how its process compiles."""
    monkeypatch.setattr(early_objects, "optimize_and_emit", early_objects.optimize_and_emit)
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", parallel_plan.TASK_WAKES)


@pytest.mark.parametrize(
    ("passes", "size", "ran"),
    [("none", 16000, False), ("none", 16, True), ("default", 16000, True)],
)
def test_a_fusion_that_sums_again_for_each_element_is_too_long(
    passes: str, size: int, ran: bool
) -> None:
    outcome = check_run(
        parse_hlo(REDUCED.replace(",N]", f",{size}]")), PLAIN._replace(passes=passes), 0
    )
    assert (outcome.kind in ("equal", "explained")) is ran and not outcome.is_finding


@pytest.mark.parametrize(
    ("element", "classes"), [("f8e4m3fnuz", ("sign-of-nan",)), ("f8e4m3fn", ())]
)
def test_the_sign_of_a_nan_is_open_where_its_type_has_one_nan(
    element: str, classes: tuple[str, ...]
) -> None:
    text = f"HloModule m\nENTRY e {{ p = {element}[512] parameter(0) c = f32[512] convert(p) ROOT b = s32[512] bitcast(c) }}"
    assert check_run(parse_hlo(text), PLAIN, 0).classes == classes


@pytest.mark.parametrize(("element", "ran"), [("u1", False), ("u2", True)])
def test_long_loops_of_what_has_no_native_code_are_too_long(element: str, ran: bool) -> None:
    step = f"step {{ x = {element}[] parameter(0) c = {element}[] parameter(1) m = {element}[] xor(x, c) ROOT t = ({element}[], {element}[]) tuple(m, m) }}"
    text = f"""HloModule m
{step}
ENTRY e {{
  x = {element}[60000] parameter(0)
  c = {element}[] parameter(1)
  ROOT r = ({element}[60000], {element}[]) scan(x, c), dimensions={{0}}, num_carries=1, to_apply=step
}}"""
    outcome = check_run(parse_hlo(text), PLAIN, 0)
    assert (outcome.kind != "compiled") is ran and not outcome.is_finding


@pytest.mark.parametrize(
    ("element", "classes"), [("f8e8m0fnu", ("combines-in-another-type",)), ("f16", ())]
)
def test_a_reducer_of_another_float_type_computes_in_either(
    element: str, classes: tuple[str, ...]
) -> None:
    text = f"""HloModule m
add {{ a = {element}[] parameter(0) b = {element}[] parameter(1) ROOT s = {element}[] add(a, b) }}
ENTRY e {{
  x = f16[15,8] parameter(0)
  i = s32[8,1] iota(), iota_dimension=0
  u = f16[8,1,8] parameter(1)
  ROOT r = f16[15,8] scatter(x, i, u), update_window_dims={{1,2}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add
}}"""
    assert check_run(parse_hlo(text), PLAIN, 0).classes == classes


FAST = PLAIN._replace(passes="algsimp{fast_math=true},default")
SCALED = """HloModule m
ENTRY e {
  x = f16[512] parameter(0)
  c = f16[] constant(0.01)
  s = f16[512] broadcast(c), dimensions={}
  m = f16[512] multiply(x, s)
  ROOT r = f16[512] multiply(m, m)
}"""


@pytest.mark.parametrize(
    "setting", [PLAIN, PLAIN._replace(passes="default"), FAST], ids=["none", "default", "fast math"]
)
@pytest.mark.parametrize(
    "text",
    [
        SCALED,
        SCALED.replace("multiply(m, m)", "log(m)").replace("multiply(x, s)", "exponential(x)"),
    ],
)
def test_a_rule_that_leaves_the_range_is_a_finding(text: str, setting: Setting) -> None:
    """A rule that leaves the range under fast math is a finding: no class of differences fits.

    Such rules make finite values infinite or infinite ones finite.
    """
    outcome = check_run(parse_hlo(text), setting, 0)
    assert outcome.is_finding is (setting is FAST), outcome
    assert "rewrites-over-the-reals" not in outcome.classes


def test_a_rounding_is_between_finite_numbers_or_ends_a_nan() -> None:
    want = np.float32([1, 1, 1, np.inf, np.inf, np.nan, np.nan])
    got = np.float32([2, np.inf, np.nan, 1, np.nan, 1, np.nan])
    assert rounds_only(want, got).tolist() == [True, False, False, False, False, True, True]
