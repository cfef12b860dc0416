"""Large constants reach real XLA as bytes; a captured array costs a small multiple of its size."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.frontends.hlo_proto import read_hlo_proto
from xla_explorer.frontends.hlo_proto.large_constants import (
    is_sent_as_bytes,
    payload_of,
    text_and_constants,
    with_constants,
)
from xla_explorer.hlo.text import parse_hlo

pytestmark = [
    pytest.mark.jax,
    pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed"),
]
KINDS = [
    "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128", "f8e4m3fn", "f8e5m2",
]  # fmt: skip
_WIDEST = {"s32": 32, "s64": 64, "u32": 32, "u64": 64}


def module_of(kind: str, layout: str) -> tuple[str, np.ndarray]:
    random = np.random.default_rng(3)
    numbers = (
        random.integers(-(1 << 62), 1 << 62, (64, 80))
        if kind in _WIDEST
        else random.integers(0, 100, (64, 80))
    )
    dtype = xe.parse_hlo(
        f"ENTRY e {{ ROOT p = {kind}[] parameter(0) }}"
    ).entry.root.shape.element_type.dtype
    values = (
        (numbers % 2 == 0)
        if kind == "pred"
        else numbers.astype(np.float64).astype(dtype)
        if kind not in _WIDEST
        else numbers.astype(dtype)
    )
    b = xe.HloBuilder("large", locations=False)
    c = b.constant(values, kind)
    module = b.build(b.copy(c))
    return module.to_text().replace(
        f"{kind}[64,80]{{1,0}} constant", f"{kind}[64,80]{layout} constant"
    ), values


@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_arrives_bit_for_bit(kind: str, layout: str) -> None:
    from jaxlib import _hlo

    text, values = module_of(kind, layout)
    names = SourceNames(parse_hlo(text))
    assert names.constants and "{...}" in names.text
    proto = with_constants(
        _hlo.hlo_module_from_text(names.text).as_serialized_hlo_module_proto(), names.constants
    )
    module = read_hlo_proto(proto).module
    (constant,) = [i for i in module.instructions() if i.opcode.name == "constant"]
    assert constant.payload.array.tobytes() == np.ascontiguousarray(values).tobytes()


def test_small_and_elided_constants_stay_in_the_text() -> None:
    small = parse_hlo("ENTRY e { ROOT c = f32[4] constant({1, 2, 3, 4}) }").entry.root.payload
    elided = parse_hlo("ENTRY e { ROOT c = f32[4096] constant({...}) }").entry.root.payload
    assert not is_sent_as_bytes(small) and not is_sent_as_bytes(elided)


def test_negative_integers_are_ten_bytes_as_protobuf_writes_them() -> None:
    b = xe.HloBuilder("m")
    literal = b.constant(np.array([-1, 0, 127, 128], np.int32)).instruction.payload
    assert payload_of(literal) == (4, b"\xff" * 9 + b"\x01" + b"\x00" + b"\x7f" + b"\x80\x01")


@pytest.mark.parametrize("kind", KINDS)
def test_jax_gets_the_values_that_the_text_leaves_out(kind: str) -> None:
    from jaxlib import _hlo

    text, values = module_of(kind, "{1,0}")
    short, constants = text_and_constants(parse_hlo(text))
    proto = with_constants(
        _hlo.hlo_module_from_text(short).as_serialized_hlo_module_proto(), constants
    )
    (constant,) = [
        i for i in read_hlo_proto(proto).module.instructions() if i.opcode.name == "constant"
    ]
    assert (
        len(short) < 1000
        and constant.payload.array.tobytes() == np.ascontiguousarray(values).tobytes()
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", ["f32", "s64", "bf16", "pred", "c64"])
def test_real_xla_computes_with_it(kind: str) -> None:
    text, values = module_of(kind, "{1,0}")
    found = xe.compile(text, backend="xla")()
    assert np.asarray(found).tobytes() == np.ascontiguousarray(values).tobytes()


_SCRIPT = """
import resource, sys
import jax, jax.numpy as jnp, numpy as np, xla_explorer as xe
BIG = np.random.default_rng(0).standard_normal(1 << 22, np.float32)
f, i = lambda i: jnp.asarray(BIG)[i], np.arange(10, dtype=np.int32)
jax.jit(f).lower(i)
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = most()
module = xe.from_jax(f, i)
assert (xe.evaluate(module, i) == BIG[:10]).all()
after = most()
if sys.argv[1] == "xla":
    assert (xe.compile(module, backend="xla")(i) == BIG[:10]).all()
    after = most()
print(after - before)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in KiB on Linux")
@pytest.mark.parametrize("way", ["from_jax", "xla"])
def test_a_captured_array_of_16_mib_takes_a_small_multiple(way: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, way],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1500:]
    assert float(done.stdout) < 16 * 16
