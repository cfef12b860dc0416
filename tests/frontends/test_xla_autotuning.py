"""Picks of XLA:GPU's autotuner.

The files are synthetic: made of the messages' definition, as no device tuned anything here.
"""

from __future__ import annotations

import pytest

from xla_explorer.frontends.xla_dump import AutotuningError, read_autotuning

TEXT = r"""version: 3
results {
  device: "CUDA: 9.0, Cores: 132, GPU clock: 1.98 GHz"
  hlo: "{\n  tmp_0 = f32[8,16]{1,0} parameter(0)\n"
       "  ROOT tmp_1 = f32[8,8]{1,0} dot(tmp_0, tmp_0), lhs_contracting_dims={1}\n}"
  result {
    run_time { nanos: 4160 }  # of one run
    triton { block_m: 16 block_n: 32 is_tma_allowed: true }
  }
}
results { hlo: "(f32[8,8]{1,0}, s8[64]{0}) custom-call(f32[8,8]{1,0})" result { scratch_bytes: 64 run_time { seconds: 1 nanos: 500 } gemm { algorithm: 13 } } }
"""


def _field(number: int, value: int | bytes) -> bytes:
    def varint(x: int) -> bytes:
        out = bytearray()
        while x > 127:
            out.append(x & 127 | 128)
            x >>= 7
        return bytes([*out, x])

    return (
        varint(number << 3) + varint(value)
        if isinstance(value, int)
        else varint(number << 3 | 2) + varint(len(value)) + value
    )


def test_a_text_is_read() -> None:
    triton, gemm = read_autotuning(TEXT.encode(), "results.pbtxt")
    assert (
        triton.device.startswith("CUDA: 9.0")
        and triton.summary == "triton: block_m 16, block_n 32, is_tma_allowed true, 4.16 us"
    )
    assert triton.shapes() == [("f32[8,16]", "parameter"), ("f32[8,8]", "dot")]
    assert gemm.summary == "gemm: algorithm 13, 1e+06 us, 64 bytes of scratch"


@pytest.mark.parametrize("number", [2, 4])
def test_a_serialized_message_is_read(number: int) -> None:
    result = _field(9, _field(2, 4160)) + _field(17, _field(1, 16) + _field(6, 4)) + _field(8, 32)
    (found,) = read_autotuning(
        _field(1, 3) + _field(number, _field(1, b"H100") + _field(2, b"key") + _field(3, result)),
        "results.bin",
    )
    assert (found.device, found.hlo, found.summary) == (
        "H100",
        "key",
        "triton: block_m 16, num_warps 4, 4.16 us, 32 bytes of scratch",
    )


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"results {", "a.pbtxt"), (b"results { device: }", "a.pbtxt"), (b"other: 1", "a.pbtxt"), (b"{}", "a.txt"), (b"\xff", "a.textproto"),
        (b"results { result { run_time { nanos: many } } }", "a.pbtxt"), (b"a {" * 100, "a.pbtxt"), (b"\x22\x7f", "a.bin"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_in_one_sentence(raw: bytes, name: str) -> None:
    with pytest.raises(AutotuningError, match=f"{name} holds no autotuning results: "):
        read_autotuning(raw, name)
