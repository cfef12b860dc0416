"""Priority fusion: what the estimates lead to, why not, and that no value changes."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from xla_explorer.compiler.decisions.kinds import reasons_of
from xla_explorer.compiler.pipeline.context import PassContext, PassControl
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.target import NVPTX, GpuUnit, Target
from xla_explorer.compiler.transforms.fusion.gpu_cost_model import GpuCostModel, KernelGroup
from xla_explorer.foundation.journal import Event, Journal
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

_SUM = "sum {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT o = f32[] add(l, r)\n}\n"


def entry(*lines: str) -> str:
    return "HloModule m\n" + _SUM + "ENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"


def fused(
    text: str, control: PassControl | None = None, target: Target = NVPTX
) -> tuple[HloModule, Journal]:
    module, journal = parse_hlo(text), Journal("decisions")
    make_pass("priority-fusion").run(module, PassContext(journal, control, target))
    return module, journal


def kernels(module: HloModule) -> list[str]:
    """Return the opcodes that each fusion computes, and the other instructions of the entry."""
    found = []
    for i in module.entry.post_order():
        if i.opcode.name == "fusion":
            inner = [
                x.opcode.name
                for x in i.called[0].instructions.values()
                if x.opcode.name not in ("parameter", "constant")
            ]
            found.append("{" + " ".join(sorted(inner)) + "}")
        elif i.opcode.name not in ("parameter", "constant", "tuple"):
            found.append(i.opcode.name)
    return sorted(found)


def event(journal: Journal, producer: str, consumer: str) -> Event:
    (found,) = [e for e in journal.events if e.names == (producer, consumer)]
    return found


def same_values(text: str, module: HloModule) -> None:
    generator = np.random.default_rng(0)
    arguments = [
        generator.standard_normal(s.dimensions).astype(np.float32)
        if s.element_type.name == "f32"
        else np.int32(3)
        for s in module.parameter_shapes()
    ]
    expected = flatten_value(evaluate(parse_hlo(text), *arguments))
    for version in (module, parse_hlo(module.to_text())):
        for a, b in zip(expected, flatten_value(evaluate(version, *arguments)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


SOFTMAX = entry(
    "x = f32[1024,1024] parameter(0)",
    "z = f32[] constant(0)",
    "e = f32[1024,1024] exponential(x)",
    "s = f32[1024] reduce(e, z), dimensions={1}, to_apply=sum",
    "b = f32[1024,1024] broadcast(s), dimensions={0}",
    "ROOT d = f32[1024,1024] divide(e, b)",
)
DEAR = entry(  # a chain of exponentials, computed for each of 4096 rows or once
    "x = f32[65536] parameter(0)",
    *[f"e{k} = f32[65536] exponential({f'e{k - 1}' if k else 'x'})" for k in range(40)],
    "b = f32[1024,65536] broadcast(e39), dimensions={1}",
    "y = f32[1024,65536] parameter(1)",
    "ROOT a = f32[1024,65536] add(b, y)",
)


def test_an_exponential_is_computed_in_both_consumers_when_memory_is_what_costs() -> None:
    module, journal = fused(SOFTMAX)
    assert kernels(module) == ["{broadcast divide exponential}", "{exponential reduce}"]
    facts = event(journal, "e", "d").facts
    assert facts is not None and facts["fused_microseconds"] < facts["unfused_microseconds"]
    assert facts["unfused_kernels"] == 3 and facts["fused_kernels"] == 2
    assert (
        0 < facts["fused_occupancy"] <= 1
        and facts["fused_bytes_read"] < facts["unfused_bytes_read"]
    )
    refusal = event(journal, "s", "d").reason
    assert refusal is not None and refusal.code == "reduce-is-root-only"


def test_what_would_be_computed_a_thousand_times_is_stored() -> None:
    module, journal = fused(DEAR)
    assert kernels(module) == ["{add broadcast}", "{" + " ".join(["exponential"] * 40) + "}"]
    refusal = event(journal, "e39", "a").reason
    assert refusal is not None and refusal.code == "slower-when-fused"
    assert refusal.facts["fused_microseconds"] > refusal.facts["unfused_microseconds"]


def test_the_user_forces_it_all_the_same() -> None:
    module, journal = fused(DEAR, PassControl(force={"fusion": [("e39", "b")]}))
    assert len(kernels(module)) == 1
    facts = event(journal, "e39", "b").facts
    assert facts is not None and facts["forced-by-user"]


def test_the_target_decides() -> None:
    """A device whose arithmetic costs nothing recomputes anything."""
    assert (
        len(
            kernels(
                fused(DEAR, target=dataclasses.replace(NVPTX, gpu=GpuUnit(clock_gigahertz=1e9)))[0]
            )
        )
        == 1
    )


def test_what_stays_in_memory_is_read_there_unless_computing_it_is_faster() -> None:
    text = entry(
        "x = f32[1024] parameter(0)",
        "b = f32[1024,1024] broadcast(x), dimensions={0}",
        "y = f32[1024,1024] parameter(1)",
        "t = f32[1024,1024] tanh(y)",
        "c = f32[1024,1024] add(b, y)",
        "n = f32[1024,1024] negate(t)",
        "d = f32[1024,1024] dot(b, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "ROOT r = (f32[1024,1024], f32[1024,1024], f32[1024,1024]) tuple(c, d, n)",
    )
    module, journal = fused(text)
    assert kernels(module) == sorted(["broadcast", "dot", "tanh", "{add broadcast}", "negate"])
    refusal = event(journal, "t", "n").reason
    assert refusal is not None and refusal.code == "stored-anyway" and "%d (dot)" in refusal.message


def test_a_kernel_updates_in_place_what_it_reads_there() -> None:
    rows = [
        "buffer = f32[64,256] parameter(0)",
        "k = s32[] parameter(1)",
        "zero = s32[] constant(0)",
        "old = f32[1,256] dynamic-slice(buffer, k, zero), dynamic_slice_sizes={1,256}",
        "new = f32[1,256] exponential(old)",
    ]
    text = entry(*rows, "ROOT u = f32[64,256] dynamic-update-slice(buffer, new, k, zero)")
    module, _ = fused(text)
    assert kernels(module) == ["{dynamic-slice dynamic-update-slice exponential}"]
    same_values(text, module)
    text = entry(
        *rows,
        "turned = f32[1,256] reverse(new), dimensions={1}",
        "ROOT u = f32[64,256] dynamic-update-slice(buffer, turned, k, zero)",
    )
    module, journal = fused(text)
    assert "in-place-update-conflict" in {e.reason.code for e in journal.events if e.reason}
    assert kernels(module) == ["{dynamic-slice exponential reverse}", "{dynamic-update-slice}"]
    same_values(text, module)


def test_what_reads_the_buffer_elsewhere_is_one_kernel_before_the_update() -> None:
    """A stencil: four neighbours, their mean written back.

    Not four stored neighbours and a kernel that reads them all.
    """
    slices = [
        f"v{k} = f32[6,6] slice(x), slice={{[{a}:{a + 6}], [{b}:{b + 6}]}}"
        for k, (a, b) in enumerate([(0, 1), (2, 1), (1, 0), (1, 2)])
    ]
    text = entry(
        "x = f32[8,8] parameter(0)",
        "one = s32[] constant(1)",
        *slices,
        "a = f32[6,6] add(v0, v1)",
        "b = f32[6,6] add(v2, v3)",
        "c = f32[6,6] add(a, b)",
        "ROOT u = f32[8,8] dynamic-update-slice(x, c, one, one)",
    )
    module, _ = fused(text)
    assert kernels(module) == ["{add add add slice slice slice slice}", "{dynamic-update-slice}"]
    same_values(text, module)
    module = parse_hlo(text)
    make_pass("fusion").run(module, PassContext())
    assert kernels(module) == ["{add add add slice slice slice slice}", "{dynamic-update-slice}"]


@pytest.mark.parametrize("seed", range(16))
def test_random_graphs_keep_their_values_and_every_refusal_has_a_known_code(seed: int) -> None:
    generator = np.random.default_rng(seed)
    lines, names = (
        ["z = f32[] constant(0)", "v0 = f32[8,8] parameter(0)", "v1 = f32[8,8] parameter(1)"],
        ["v0", "v1"],
    )
    for k in range(2, 40):
        a, b = (
            names[int(generator.integers(max(0, len(names) - 8), len(names)))] for _ in range(2)
        )
        kind = int(generator.integers(0, 7))
        if kind == 0:
            lines.append(f"v{k} = f32[8,8] reverse({a}), dimensions={{1}}")
        elif kind == 1:
            lines.append(f"v{k} = f32[8,8] transpose({a}), dimensions={{1,0}}")
        elif kind == 2:
            lines += [
                f"r{k} = f32[8] reduce({a}, z), dimensions={{1}}, to_apply=sum",
                f"v{k} = f32[8,8] broadcast(r{k}), dimensions={{0}}",
            ]
        elif kind == 3:
            lines += [
                f"flat{k} = f32[64] reshape({a})",
                f"g{k} = f32[64] sine(flat{k})",
                f"v{k} = f32[8,8] reshape(g{k})",
            ]
        elif kind == 4:
            lines.append(
                f"v{k} = f32[8,8] dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            )
            names.append(f"v{k}")
            lines.append(f"w{k} = f32[8,8] tanh(v{k})")
            names.append(f"w{k}")
            continue
        else:
            lines.append(f"v{k} = f32[8,8] {['subtract', 'maximum'][kind - 5]}({a}, {b})")
        names.append(f"v{k}")
    lines.append("ROOT t = (" + ", ".join(["f32[8,8]"] * 3) + f") tuple({', '.join(names[-3:])})")
    text = entry(*lines)
    module, journal = fused(text)
    same_values(text, module)
    assert {e.reason.code for e in journal.events if e.reason} <= set(reasons_of("fusion"))
    assert {e.by for e in journal.events} <= {"fusion"}


def test_few_threads_do_not_reach_the_bandwidth() -> None:
    model = GpuCostModel(NVPTX)
    times = []
    for rows in (1, 1024):
        module = parse_hlo(
            entry(f"x = f32[{rows},1024] parameter(0)", f"ROOT n = f32[{rows},1024] negate(x)")
        )
        times.append(model.group(KernelGroup(module.entry.root)))
    small, large = times
    assert small.occupancy < 0.01 and large.occupancy == 1
    assert small.memory * 1024 > 5 * large.memory
    slow = dataclasses.replace(NVPTX, gpu=GpuUnit(dram_bytes_per_nanosecond=335.0))
    assert GpuCostModel(slow).group(KernelGroup(module.entry.root)).memory > 5 * large.memory


def test_planning_grows_with_the_module_not_its_square() -> None:
    def seconds(length: int) -> float:
        lines = ["x = f32[64] parameter(0)", "y = f32[64] parameter(1)"]
        previous = "x"
        for k in range(length):
            lines.append(f"a{k} = f32[64] {'add' if k % 2 else 'multiply'}({previous}, y)")
            previous = f"a{k}"
            if k % 20 == 19:
                lines.append(f"d{k} = f32[64] cosine({previous})")
                lines.append(f"s{k} = f32[64] sort(d{k}), dimensions={{0}}, to_apply=less")
                previous = f"s{k}"
        less = "less {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT c = pred[] compare(p, q), direction=LT\n}\n"
        module = parse_hlo(
            "HloModule m\n"
            + less
            + "ENTRY e {\n  "
            + "\n  ".join(lines)
            + f"\n  ROOT t = (f32[64]) tuple({previous})\n}}\n"
        )
        started = time.process_time()
        make_pass("priority-fusion").run(module, PassContext())
        return time.process_time() - started

    seconds(100)
    assert min(seconds(2000) for _ in range(2)) < 5 * 8 * min(seconds(250) for _ in range(2))


def test_a_value_that_stays_is_taken_by_its_readers_once() -> None:
    text = entry(
        *[f"p{k} = pred[20,20] parameter({k})" for k in range(3)],
        *[f"x{k} = f32[20,20] parameter({k + 3})" for k in range(2)],
        "one = f32[] constant(1)",
        "b = f32[20,20] broadcast(one), dimensions={}",
        "t = (f32[20,20]) tuple(b)",
        "first = f32[20,20] select(p0, x0, x0)",
        "second = f32[20,20] select(p1, x1, first)",
        "third = f32[20,20] select(p2, b, second)",
        "ROOT r = f32[20,20] parameter(5)",
    )
    # An instruction queued twice with one priority was fused a second time, without readers.
    module, _ = fused(text)
    assert "{broadcast select select select}" in kernels(module)


def test_a_reshape_of_what_a_kernel_reads_stays_outside() -> None:
    text = entry(
        "x = f32[4,64] parameter(0)", "b = f32[256] bitcast(x)", "ROOT r = f32[256] negate(b)"
    )
    assert kernels(fused(text)[0]) == ["bitcast", "negate"]
