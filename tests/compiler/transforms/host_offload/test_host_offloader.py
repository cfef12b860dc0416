"""Values that annotations place in the memory of the host."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.compiler.pipeline.runner import PassFailedError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

HOST = 5


def offloaded(body: str, before: str = "", layout: str = "") -> HloModule:
    """Return the module after the pass, well formed."""
    text = f"HloModule m{layout}\n{before}ENTRY e {{\n{body}\n}}\n"
    return optimize(parse_hlo(text), "host-offloader", verify=True).module


def spaces(module: HloModule) -> dict[str, int]:
    """Return the memory spaces of the entry's arrays by opcode."""
    return {
        i.opcode.name: i.shape.layout.memory_space
        for i in module.entry.post_order()
        if i.shape.is_array
    }


def test_a_value_is_copied_to_the_host_and_back() -> None:
    module = offloaded(
        'x = f32[8] parameter(0)\nh = f32[8] custom-call(x), custom_call_target="MoveToHost"\n'
        'ROOT d = f32[8] custom-call(h), custom_call_target="MoveToDevice"'
    )
    back = module.entry.root
    there = back.operands[0]
    assert [i.opcode.name for i in (back, there)] == ["copy", "copy"]
    assert [i.shape.layout.memory_space for i in (back, there)] == [0, HOST]


def test_an_update_writes_a_buffer_on_the_host() -> None:
    module = offloaded(
        "x = f32[1,8] parameter(0)\nz = f32[] constant(0)\nk = s32[] constant(1)\n"
        "b = f32[4,8] broadcast(z), dimensions={}\n"
        'h = f32[1,8] custom-call(x), custom_call_target="MoveToHost"\n'
        "u = f32[4,8] dynamic-update-slice(b, h, k, k)\n"
        'ROOT d = f32[4,8] custom-call(u), custom_call_target="MoveToDevice"'
    )
    update = module.entry.root.operands[0]
    assert update.opcode.name == "dynamic-update-slice"
    assert update.operands[0].attributes["custom_call_target"] == '"AllocateBuffer"'
    assert update.shape.layout.memory_space == HOST


def test_the_space_follows_the_value_through_a_loop() -> None:
    module = offloaded(
        'x = f32[8] parameter(0)\nh = f32[8] custom-call(x), custom_call_target="MoveToHost"\n'
        "w = f32[8] while(h), condition=c, body=b\n"
        'ROOT d = f32[8] custom-call(w), custom_call_target="MoveToDevice"',
        "c {\n s = f32[8] parameter(0)\n ROOT f = pred[] constant(false)\n}\n"
        "b {\n ROOT s = f32[8] parameter(0)\n}\n",
    )
    assert spaces(module)["while"] == HOST
    for computation in module.computations.values():
        if not computation.is_entry:
            [parameter] = computation.parameters()
            assert parameter.shape.layout.memory_space == HOST


def test_a_streamed_parameter_needs_no_copy_to_the_host() -> None:
    module = offloaded(
        "x = f32[8] parameter(0)\n"
        'ROOT d = f32[8] custom-call(x), custom_call_target="MoveToDevice"',
        layout=", entry_computation_layout={(f32[8]{0:S(5)})->f32[8]{0}}",
    )
    assert spaces(module) == {"parameter": HOST, "copy": 0}


def test_work_on_the_host_is_marked() -> None:
    module = offloaded(
        'x = f32[8] parameter(0)\nh = f32[8] custom-call(x), custom_call_target="MoveToHost"\n'
        "n = f32[8] negate(h)\n"
        'ROOT d = f32[8] custom-call(n), custom_call_target="MoveToDevice"'
    )
    [negate] = [i for i in module.instructions() if i.opcode.name == "negate"]
    assert '_xla_compute_type="host"' in str(negate.attributes["frontend_attributes"])


def test_a_result_on_the_host_must_be_stated() -> None:
    with pytest.raises(PassFailedError, match="not set to host memory"):
        offloaded(
            'x = f32[8] parameter(0)\nh = f32[8] custom-call(x), custom_call_target="MoveToHost"\n'
            "ROOT n = f32[8] negate(h)"
        )


def test_a_transfer_becomes_a_start_and_a_done() -> None:
    text = (
        "HloModule m\nENTRY e {\n x = f32[8]{0:S(5)} parameter(0)\n"
        " k = s32[] constant(1)\n c = f32[8]{0} copy(x)\n"
        " s = f32[4]{0} dynamic-slice(x, k), dynamic_slice_sizes={4}\n"
        " n = f32[4]{0} slice(c), slice={[0:4]}\n ROOT a = f32[4]{0} add(n, s)\n}\n"
    )
    module = optimize(parse_hlo(text), "host-memory-transfer-asyncifier", verify=True).module
    found = sorted([i.opcode.name for i in module.entry.instructions.values()])
    assert [name for name in found if name.endswith(("-start", "-done"))] == [
        "async-done",
        "async-start",
        "copy-done",
        "copy-start",
    ]


def test_spaces_around_a_fusion_reach_into_it() -> None:
    text = (
        "HloModule m\nf {\n x = f32[8]{0} parameter(0)\n b = f32[2,4]{1,0} bitcast(x)\n"
        " ROOT n = f32[2,4]{1,0} negate(b)\n}\n"
        "ENTRY e {\n x = f32[8]{0:S(1)} parameter(0)\n"
        " ROOT f = f32[2,4]{1,0:S(2)} fusion(x), kind=kLoop, calls=f\n}\n"
    )
    module = optimize(parse_hlo(text), "memory-space-propagation", verify=True).module
    body = module.entry.root.called[0]
    found = {i.opcode.name: i.shape.layout.memory_space for i in body.instructions.values()}
    assert found == {"parameter": 1, "bitcast": 1, "negate": 2}
