"""HLO without a StableHLO form reaches real XLA: async chains, bitcasts, aliases, fusions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.xla.stablehlo_forms import write_for_stablehlo
from xla_explorer.hlo.evaluator import flatten_value

f32 = np.float32
M = np.arange(6, dtype=f32).reshape(2, 3)
A, B = np.ones(16, f32), np.full(16, 3, f32)
ADDED = "c { p = f32[16] parameter(0)\n q = f32[16] parameter(1)\n ROOT a = f32[16] add(p, q) }\n"
ENTRY = "ENTRY e { a = f32[16] parameter(0)\n b = f32[16] parameter(1)\n "
PAIR = "p = (f32[4], f32[4]) parameter(0)\n a = f32[4] get-tuple-element(p), index=0\n b = f32[4] get-tuple-element(p), index=1\n"
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "call-start": ("HloModule m\n" + ADDED + ENTRY + "s = ((f32[16], f32[16]), f32[16]) call-start(a, b), to_apply=c\n d = f32[16] call-done(s)\n"
                   " m = f32[16] add(d, d)\n ROOT r = f32[16] add(m, b) }", (A, B)),
    "fusion-start": ("HloModule m, is_scheduled=true\n" + ADDED + ENTRY + "s = ((f32[16], f32[16]), f32[16], s32[]) fusion-start(a, b), kind=kLoop, calls=c\n"
                     " u = ((f32[16], f32[16]), f32[16], s32[]) fusion-update(s)\n d = f32[16] fusion-done(u)\n ROOT r = f32[16] add(d, b) }", (A, B)),
    "copy-start": ("HloModule m\nENTRY e { a = f32[16] parameter(0)\n s = (f32[16], f32[16], u32[]) copy-start(a)\n d = f32[16] copy-done(s)\n ROOT r = f32[16] add(d, a) }", (A,)),
    "an alias of parts": ("HloModule m, input_output_alias={ {0}: (0, {0}, may-alias), {1}: (0, {1}, may-alias) }\nENTRY e { " + PAIR
                          + " ROOT t = (f32[4], f32[4]) tuple(b, a) }", ((np.ones(4, f32), np.zeros(4, f32)),)),
    "an alias of the whole result": ("HloModule m, input_output_alias={ {}: (0, {1}, must-alias) }\nENTRY e { " + PAIR + " ROOT t = f32[4] add(b, a) }",
                                     ((np.ones(4, f32), np.zeros(4, f32)),)),
    "a nested alias": ("HloModule m, input_output_alias={ {1,0}: (1, {}, must-alias), {0}: (0, {1}, may-alias) }, buffer_donor={ (0, {0}) }\nENTRY e { " + PAIR
                       + " q = f32[4] parameter(1)\n s = f32[4] add(a, b)\n u = (f32[4], f32[4]) tuple(q, s)\n ROOT t = (f32[4], (f32[4], f32[4])) tuple(b, u) }",
                       ((np.ones(4, f32), np.full(4, 2, f32)), np.zeros(4, f32))),
    "bitcast": ("ENTRY e { p = f32[2,3] parameter(0)\n b = f32[3,2] bitcast(p)\n ROOT r = f32[3,2] add(b, b) }", (M,)),
    "bitcast between layouts": ("ENTRY e { p = f32[2,3]{0,1} parameter(0)\n b = f32[3,2]{1,0} bitcast(p)\n c = f32[2,3]{0,1} bitcast(b)\n n = f32[2,3]{0,1} negate(c)\n"
                                " s = s32[3,2]{1,0} bitcast(n)\n h = u16[12]{0} bitcast(s)\n w = s32[6]{0} bitcast(h)\n ROOT r = (s32[3,2]{1,0}, u16[12]{0}, s32[6]{0}) tuple(s, h, w) }", (M,)),
    "bitcast in a fusion": ("f { p = f32[2,3] parameter(0)\n b = f32[6] bitcast(p)\n ROOT n = f32[6] negate(b) }\n"
                            "ENTRY e { p = f32[2,3] parameter(0)\n ROOT r = f32[6] fusion(p), kind=kLoop, calls=f }", (M,)),
    "fusions of another device": ("HloModule m, is_scheduled=true\ns { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT a = f32[] add(x, y) }\n"
                                  "f { p = f32[2,3] parameter(0)\n z = f32[] constant(0)\n a = f32[2] reduce(p, z), dimensions={1}, to_apply=s\n m = f32[2,3] multiply(p, p)\n"
                                  " b = f32[2] reduce(m, z), dimensions={1}, to_apply=s\n ROOT t = (f32[2], f32[2]) tuple(a, b) }\n"
                                  "g { p = (f32[2], f32[2]) parameter(0)\n x = f32[2] get-tuple-element(p), index=0\n y = f32[2] get-tuple-element(p), index=1\n ROOT a = f32[2] add(x, y) }\n"
                                  "t { p = f32[2] parameter(0)\n ROOT n = f32[2] negate(p) }\n"
                                  "ENTRY e { p = f32[2,3] parameter(0)\n k = (f32[2], f32[2]) fusion(p), kind=kInput, calls=f\n l = f32[2] fusion(k), kind=kLoop, calls=g\n"
                                  ' ROOT r = f32[2] fusion(l), kind=kCustom, calls=t, backend_config={"fusion_backend_config":{"kind":"__triton"}} }', (M,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_written_module_has_the_same_value(name: str) -> None:
    text, arguments = PROGRAMS[name]
    module = xe.parse_hlo(text)
    written = module.clone()
    write_for_stablehlo(written)
    written = xe.parse_hlo(written.to_text())
    xe.verify(written)
    opcodes = {i.opcode.name for i in written.instructions()}
    assert not opcodes & {
        "bitcast",
        "async-start",
        "async-update",
        "async-done",
        "copy-start",
        "copy-done",
    }
    leaves = [leaf for argument in arguments for leaf in flatten_value(argument)]
    given = leaves if len(written.entry.parameters()) == len(leaves) else arguments
    for have, want in zip(
        flatten_value(xe.evaluate(written, *given)),
        flatten_value(xe.evaluate(module, *arguments)),
        strict=True,
    ):
        np.testing.assert_array_equal(np.asarray(have), np.asarray(want))


@pytest.mark.jax
@pytest.mark.parametrize("name", PROGRAMS)
def test_real_xla_runs_it(name: str) -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    text, arguments = PROGRAMS[name]
    session = xe.compile(text, backend="xla")
    for have, want in zip(
        flatten_value(session(*arguments)),
        flatten_value(xe.evaluate(text, *arguments)),
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=1e-6)


def test_an_opcode_that_stablehlo_lacks_is_refused_by_name() -> None:
    module = xe.parse_hlo("ENTRY e { a = s32[4] parameter(0)\n ROOT r = s32[4] mulhi(a, a) }")
    with pytest.raises(xe.XlaExplorerError, match="%r is a mulhi, which StableHLO lacks"):
        write_for_stablehlo(module)
