"""Modules that mix float precisions, by an option or by a TPU's tiled layouts.

Values are converted if the module leaves the conversion implicit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.frontends.mixed_precision import MixedPrecisionWarning, write_out_conversions
from xla_explorer.hlo.evaluator import flatten_value
from xla_explorer.hlo.verifier import VerifierOptions, verify, violations
from xla_explorer.hlo.verifier.precision import NEVER_MIXED

MIXED = VerifierOptions(allow_mixed_precision=True)
CALLED = """add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT t = f32[] add(x, y) }
less { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT t = pred[] compare(x, y), direction=LT }
scaled { x = bf16[] parameter(0)
 y = f32[] parameter(1)
 v = bf16[] convert(y)
 ROOT t = bf16[] multiply(x, v) }
body { b = f32[4] parameter(0)
 ROOT r = bf16[4] negate(b) }
"""
ENTRY = "ENTRY e { a = bf16[4] parameter(0)\n b = f32[4] parameter(1)\n z = s32[] constant(0)\n"
A = np.array([1, 2.5, -3, 100], ml_dtypes.bfloat16)
B = np.array([0.1, 1e-3, 7.77, 123.456], np.float32)
WIDE = A.astype(np.float32)
PROGRAMS: dict[str, tuple[str, Any]] = {
    "add, narrow result": ("ROOT r = bf16[4] add(a, b)", (WIDE + B).astype(A.dtype)),
    "add, wide result": ("ROOT r = f32[4] add(a, b)", WIDE + B),
    "unary": ("ROOT r = bf16[4] negate(b)", (-B).astype(A.dtype)),
    "widening": ("ROOT r = f32[4] negate(a)", -WIDE),
    "select": ("p = pred[4] compare(a, a), direction=NE\n ROOT r = f32[4] select(p, a, b)", B),
    "copy": ("ROOT r = bf16[4] copy(b)", B.astype(A.dtype)),
    "broadcast": ("ROOT r = bf16[2,4] broadcast(b), dimensions={1}", np.stack([B.astype(A.dtype)] * 2)),
    "reshape": ("ROOT r = bf16[2,2] reshape(b)", B.astype(A.dtype).reshape(2, 2)),
    "slice": ("ROOT r = bf16[2] slice(b), slice={[1:3]}", B.astype(A.dtype)[1:3]),
    "dynamic slice": ("ROOT r = bf16[2] dynamic-slice(b, z), dynamic_slice_sizes={2}", B.astype(A.dtype)[:2]),
    "concatenate": ("ROOT r = bf16[8] concatenate(a, b), dimensions={0}", np.concatenate([A, B.astype(A.dtype)])),
    "pad": ("p = f32[] constant(0.1)\n ROOT r = bf16[6] pad(a, p), padding=1_1", np.array([0.1, *WIDE, 0.1]).astype(A.dtype)),
    "update": ("u = f32[2] slice(b), slice={[0:2]}\n ROOT r = bf16[4] dynamic-update-slice(a, u, z)",
               np.concatenate([B.astype(A.dtype)[:2], A[2:]])),
    "update of wide by narrow": ("u = bf16[2] slice(a), slice={[0:2]}\n ROOT r = f32[4] dynamic-update-slice(b, u, z)",
                                 np.concatenate([WIDE[:2], B[2:]])),
    "clamp": ("ROOT r = f32[4] clamp(a, b, a)", WIDE),
    "scatter": ("k = s32[1,1] constant({{2}})\n u = bf16[1] slice(a), slice={[0:1]}\n ROOT r = f32[4] scatter(b, k, u), "
                "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
                B + np.array([0, 0, 1, 0], np.float32)),
    "reduce": ("o = bf16[] constant(0)\n ROOT r = bf16[] reduce(b, o), dimensions={0}, to_apply=add",
               B.astype(np.float64).sum().astype(A.dtype)),
    "reduce of narrow by wide": ("o = f32[] constant(0)\n ROOT r = f32[] reduce(a, o), dimensions={0}, to_apply=add", WIDE.sum()),
    "sort": ("ROOT r = bf16[4] sort(b), dimensions={0}, to_apply=less", np.sort(B).astype(A.dtype)),
    "fusion": ("ROOT r = bf16[4] fusion(b), kind=kLoop, calls=body", (-B).astype(A.dtype)),
    "in the middle": ("n = bf16[4] negate(b)\n ROOT r = f32[4] convert(n)", (-B).astype(A.dtype).astype(np.float32)),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "gpu", "interpreter"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_value_is_converted(name: str, backend: str) -> None:
    body, wanted = PROGRAMS[name]
    text = f"{CALLED}{ENTRY} {body} }}"
    verify(xe.parse_hlo(text), MIXED)
    found = np.asarray(xe.compile(text, backend=backend, mixed_precision=True)(A, B))
    assert found.dtype == np.asarray(wanted).dtype
    np.testing.assert_array_equal(found, np.asarray(wanted))


@pytest.mark.parametrize(
    "name",
    [name for name in PROGRAMS if "convert" not in PROGRAMS[name][0] or name == "in the middle"],
)
def test_what_is_written_out_needs_no_option(name: str) -> None:
    module = xe.parse_hlo(f"{CALLED}{ENTRY} {PROGRAMS[name][0]} }}")
    if violations(module):
        with pytest.raises(xe.errors.HloVerifyError, match="mixed_precision=True"):
            verify(module)
        assert write_out_conversions(module) > 0
    verify(module)
    assert write_out_conversions(module) == 0


@pytest.mark.parametrize(
    "body",
    [
        "ROOT r = bf16[4] opt-barrier(b)",
        "ROOT r = (f32[4]) tuple(a)",
        "u = bf16[2] slice(a), slice={[0:2]}\n ROOT r = bf16[4] dynamic-update-slice(b, u, z)",
        "c = (f32[4]) tuple(b)\n ROOT r = bf16[4] get-tuple-element(c), index=0",
        'ROOT r = bf16[2] bitcast(a)',
        "ROOT r = bf16[5] broadcast(b), dimensions={0}",
        "ROOT r = bf16[3] copy(b)",
        "ROOT r = s32[4] copy(b)",
    ],
)  # fmt: skip
def test_what_hands_data_on_never_changes_its_type(body: str) -> None:
    with pytest.raises(xe.errors.HloVerifyError):
        verify(xe.parse_hlo(f"{CALLED}{ENTRY} {body} }}"), MIXED)


def test_the_list_is_that_of_xla() -> None:
    """The opcodes that may not mix precisions are those of ShapeVerifier::CheckShape.

    A copy may do so except between device and host; an in-place update and a barrier may not.

    A copy may do so except between device and host; an in-place update and a barrier may not.
    """
    assert (
        "copy" not in NEVER_MIXED
        and {"opt-barrier", "dynamic-update-slice", "copy-start", "while"} <= NEVER_MIXED
    )
    text = "ENTRY e { b = f32[4]{0} parameter(0)\n ROOT r = bf16[4]{0:S(5)} copy(b) }"
    verify(xe.parse_hlo(text), MIXED)
    assert violations(xe.parse_hlo(text), MIXED._replace(layout_sensitive=True))


def test_a_map_of_several_types_mixes_nothing() -> None:
    text = f"{CALLED.partition('body')[0]}{ENTRY} ROOT r = bf16[4] map(a, b), dimensions={{0}}, to_apply=scaled }}"
    verify(xe.parse_hlo(text))
    wanted = flatten_value(xe.evaluate(text, A, B))[0]
    np.testing.assert_array_equal(np.asarray(xe.compile(text)(A, B)), np.asarray(wanted))


TPU = (Path(__file__).parents[1] / "data" / "hunt" / "50_tpu_mixed_precision.hlo").read_text()


@pytest.mark.parametrize(
    "entry", ["compile", "load", "evaluate", "optimize", "module", "graph", "explore", "unverified"]
)
def test_a_text_of_a_tpu_needs_no_option(entry: str, tmp_path: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6) / 7
    wanted = x.astype(ml_dtypes.bfloat16)[:, 1:4].T
    file = tmp_path / "tpu.hlo"
    file.write_text(TPU)
    with pytest.warns(MixedPrecisionWarning, match="1 conversion that it leaves implicit"):
        made = {
            "compile": lambda: xe.compile(TPU),
            "unverified": lambda: xe.compile(TPU, verify=False),
            "module": lambda: xe.compile(xe.parse_hlo(TPU)),
            "load": lambda: xe.compile(xe.load(file)),
            "evaluate": lambda: xe.evaluate(TPU, x, np.int32(1)),
            "optimize": lambda: xe.compile(xe.optimize(TPU).module),
            "graph": lambda: xe.graph(TPU),
            "explore": lambda: xe.explore(TPU),
        }[entry]()
    if entry not in ("graph", "explore"):
        found = made if entry == "evaluate" else made(x, np.int32(1))  # type: ignore[operator]
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_the_option_of_load_and_explore(tmp_path: Path) -> None:
    text = f"{CALLED}{ENTRY} ROOT r = bf16[4] negate(b) }}"
    file = tmp_path / "mixed.hlo"
    file.write_text(text)
    module = xe.load(file, mixed_precision=True)
    verify(module)  # type: ignore[arg-type]
    assert xe.explore(text, mixed_precision=True) is not None
    with pytest.raises(xe.errors.HloVerifyError, match="mixed_precision=True"):
        xe.explore(text)


def test_without_verification_no_invalid_code_is_made() -> None:
    text = f"{CALLED}{ENTRY} ROOT r = bf16[4] negate(b) }}"
    np.testing.assert_array_equal(xe.compile(text, verify=False)(A, B), (-B).astype(A.dtype))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_out_has_a_place_in_the_schedule(name: str) -> None:
    text = f"HloModule m, is_scheduled=true\n{CALLED}{ENTRY} {PROGRAMS[name][0]} }}"
    module = xe.parse_hlo(text)
    write_out_conversions(module)
    verify(module)
    assert len(module.entry.schedule or ()) == len(module.entry.instructions)


def test_a_scheduled_text_of_a_tpu_is_read() -> None:
    text = """HloModule m, is_scheduled=true
ENTRY %main (p: f32[4,6]) -> bf16[4,6] {
  %p = f32[4,6]{1,0:T(8,128)} parameter(0)
  ROOT %c = bf16[4,6]{1,0:T(8,128)(2,1)} copy(%p)
}"""
    x = np.arange(24, dtype=np.float32).reshape(4, 6) / 7
    with pytest.warns(MixedPrecisionWarning):
        session = xe.compile(text)
    np.testing.assert_array_equal(np.asarray(session(x)), x.astype(ml_dtypes.bfloat16))
