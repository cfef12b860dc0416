"""Buffer assignment as XLA:CPU does it, on modules small enough to say what must come out."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.buffers.xla import NotFlatError, XlaBuffers, assign_as_xla
from xla_explorer.hlo.text import parse_hlo

LESS = "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT l = pred[] compare(a, b), direction=LT }\n"


def assigned(body: str, before: str = "") -> XlaBuffers:
    return assign_as_xla(
        parse_hlo(f"HloModule m, is_scheduled=true\n{before}ENTRY main {{\n{body}\n}}")
    )


def places(found: XlaBuffers) -> dict[str, tuple[str, int]]:
    return {
        name: (one.kind, offset)
        for one in found.allocations
        for name, offset in one.offsets.items()
    }


def test_a_value_that_dies_before_the_result_is_written_lies_in_its_memory() -> None:
    found = assigned("x = f32[64] parameter(0)\n e = f32[64] reverse(x), dimensions={0}\n c = f32[64] reverse(e), dimensions={0}\n"
                     " ROOT r = f32[64] reverse(c), dimensions={0}")  # fmt: skip
    # `r` reads `c` in another order, so those two cannot be one.
    assert places(found) == {
        "x": ("parameter", 0),
        "e": ("result", 0),
        "c": ("temporary", 0),
        "r": ("result", 0),
    }
    assert (found.total_bytes, found.temporary_bytes) == (768, 256)


def test_an_elementwise_value_is_written_over_its_operand() -> None:
    found = assigned(
        "x = f32[64] parameter(0)\n e = f32[64] exponential(x)\n ROOT r = f32[64] cosine(e)"
    )
    assert sorted([sorted(one.offsets) for one in found.allocations]) == [["e", "r"], ["x"]]


def test_the_smallest_gap_is_taken_and_offsets_are_aligned() -> None:
    found = assigned("""p = f32[100] parameter(0)
      a = f32[100] reverse(p), dimensions={0}
      b = f32[10] slice(a), slice={[0:10]}
      c = f32[10] reverse(b), dimensions={0}
      d = f32[100] reverse(a), dimensions={0}
      s = f32[10] slice(d), slice={[0:10]}
      ROOT r = (f32[10], f32[10]) tuple(c, s)""")
    assert places(found)["a"] == ("temporary", 0) and places(found)["d"] == ("temporary", 448)
    assert found.temporary_bytes == 448 + 400


LOOP = """condition { s = (s32[], f32[64], f32[64]) parameter(0)
 k = s32[] get-tuple-element(s), index=0
 n = s32[] constant(10)
 ROOT t = pred[] compare(k, n), direction=LT }
body { s = (s32[], f32[64], f32[64]) parameter(0)
 k = s32[] get-tuple-element(s), index=0
 x = f32[64] get-tuple-element(s), index=1
 w = f32[64] get-tuple-element(s), index=2
 one = s32[] constant(1)
 k1 = s32[] add(k, one)
 y = f32[64] add(x, w)
 ROOT r = (s32[], f32[64], f32[64]) tuple(k1, y, w) }
"""
ENTRY = """x = f32[64] parameter(0)
 w = f32[64] parameter(1)
 zero = s32[] constant(0)
 c = s32[] copy(zero)
 e = f32[64] exponential(x)
 i = (s32[], f32[64], f32[64]) tuple(c, e, w)
 l = (s32[], f32[64], f32[64]) while(i), condition=condition, body=body
 ROOT a = f32[64] get-tuple-element(l), index=1"""


def test_what_a_loop_carries_is_one_buffer_and_what_it_passes_through_no_value() -> None:
    found = assigned(ENTRY, LOOP)
    assert {name for name, place in places(found).items() if place[0] == "result"} == {
        "e",
        "y",
        "l{1}",
        "s{1}",
        "s.1{1}",
    }
    assert not any(
        name.endswith("{2}") for name in places(found)
    )  # `w` stays where the parameter is
    assert places(found)["w.1"] == ("parameter", 0)
    assert places(found)["c"] == places(found)["l{0}"] == places(found)["k1"] == ("temporary", 64)
    assert places(found)["t"] == ("temporary", 128)
    assert (
        places(found)["i{}"] == places(found)["l{}"] == ("temporary", 0)
    )  # the pointers of the tuples
    assert found.temporary_bytes == 128 + 1


def test_a_computation_with_two_callers_is_refused() -> None:
    with pytest.raises(NotFlatError, match=r"%f has several callers"):
        assigned("x = f32[] parameter(0)\n a = f32[] call(x), to_apply=f\n ROOT b = f32[] call(a), to_apply=f",
                 "f { x = f32[] parameter(0)\n ROOT n = f32[] negate(x) }\n")  # fmt: skip


def test_what_a_kernel_calls_for_each_element_is_thread_local() -> None:
    found = assigned(
        "x = f32[64] parameter(0)\n ROOT s = f32[64] sort(x), dimensions={0}, to_apply=less", LESS
    )
    assert sorted(one.kind for one in found.allocations) == [
        "parameter",
        "result",
        "thread-local",
        "thread-local",
        "thread-local",
    ]


def test_an_alias_of_the_header_puts_the_result_into_the_parameter() -> None:
    text = """HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main { x = f32[64] parameter(0)
 e = f32[64] exponential(x)
 ROOT r = f32[64] reverse(e), dimensions={0} }"""
    found = assign_as_xla(parse_hlo(text))
    assert [one.kind for one in found.allocations] == ["parameter", "temporary"]
    assert set(found.allocations[0].offsets) == {"x", "r"}
