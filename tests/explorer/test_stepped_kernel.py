"""A kernel of a session's program, stepped warp by warp."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.gpu.emulator.memory import GLOBAL_BASE
from xla_explorer.foundation.diagnostic import XlaExplorerError

SUM = """HloModule s
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT t = f32[] add(a, b) }
ENTRY e {
  x = f32[3,2000] parameter(0)
  n = f32[3,2000] exponential(x)
  zero = f32[] constant(0)
  ROOT r = f32[3] reduce(n, zero), dimensions={1}, to_apply=add
}
"""
PRODUCT = """HloModule p
ENTRY e { a = bf16[256,256] parameter(0) b = bf16[256,256] parameter(1)
  ROOT c = f32[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
"""


@pytest.fixture
def stepped():
    return (
        xe.compile(SUM, backend="gpu", device="emulator")
        .emulation(np.ones((3, 2000), np.float32))
        .stepper()
    )


def test_warps_come_to_a_barrier_and_go_on(stepped):
    assert (
        stepped.warps["state"].tolist() == ["can go on"] * len(stepped.warps)
        and len(stepped.warps) > 4
    )
    while stepped.warps["state"][0] == "can go on":
        stepped.step(0, count=20 if stepped.warps["line"][0] < 40 else 1)
    assert stepped.warps["state"][0].startswith("waits at barrier 0, PTX line")
    with pytest.raises(XlaExplorerError, match="warp 0 waits at barrier 0"):
        stepped.step(0)
    with pytest.raises(XlaExplorerError, match="warp 99 does not exist"):
        stepped.step(99)
    stepped.step(count=100_000)
    assert set(stepped.warps["state"]) == {"has ended"} and len(stepped.findings) == 0


def test_to_an_instruction_and_what_lanes_hold(stepped):
    shown = stepped.run_to("%n", warp=1)
    assert shown is stepped and stepped.warps["hlo"][1] == "%n"
    registers = stepped.registers()
    assert (
        len(registers) == 32
        and registers["active"].all()
        and any(name.startswith("%r") for name in registers)
    )
    with pytest.raises(XlaExplorerError, match="warp 1 does not come to PTX line 9999"):
        stepped.run_to(9999, warp=1)


def test_the_page(stepped):
    page = stepped.step(2)._repr_mimebundle_()
    assert (
        "warp 2 next, line" in " ".join(page["text/plain"].split())
        and "warps 0-1, 3-" in page["text/html"]
        and "<script" not in page["text/html"]
    )


def test_what_there_is_to_choose_from():
    emulation = xe.compile(SUM, backend="gpu", device="emulator").emulation()
    with pytest.raises(XlaExplorerError, match="no kernel nothing"):
        emulation.stepper("nothing")
    with pytest.raises(XlaExplorerError, match="has blocks 0 to 2"):
        emulation.stepper(block=3)


@pytest.mark.long
@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_warpgroups_in_any_order(monkeypatch, seed):
    from xla_explorer.backends.gpu.emitters import products
    from xla_explorer.foundation.reason import refuse

    def refused(i, architecture):
        return refuse("not-now", "the other kernel is wanted")

    rows = [
        dataclasses.replace(row, plan=refused) if row.name == "tensor-core-dot" else row
        for row in products.PRODUCT_ROWS
    ]
    monkeypatch.setattr(products, "PRODUCT_ROWS", tuple(rows))
    session = xe.compile(
        PRODUCT, backend="gpu", device="emulator", architecture="sm_90a", isolate=False
    )
    a, b = (
        np.random.default_rng(k).standard_normal((256, 256)).astype(ml_dtypes.bfloat16)
        for k in (0, 1)
    )
    (kernel,) = session.executable.program.kernels
    stepper = session.executable.stepper([a, b], kernel.name)
    order = np.random.default_rng(seed)
    waited = set()
    while stepper.runnable:
        stepper.step(int(order.choice(stepper.runnable)))
        waited |= {stepper.waits_for(warp).split(", PTX")[0] for warp in range(stepper.warps)}
    assert stepper.step() is None and stepper.findings == []
    assert {
        "for the phase of an mbarrier",
        "for the rest of its warpgroup",
        "at barrier 0",
    } <= waited
    rows, columns = 128, 64
    memory = stepper.kernel.device
    (place,) = [offset for offset, (name, _) in memory._names.items() if name == "output"]
    found = (
        memory.read(GLOBAL_BASE + place, 4 * 256 * 256)
        .view(np.float32)
        .reshape(256, 256)[:rows, :columns]
    )
    np.testing.assert_allclose(
        found, (a.astype(np.float32) @ b.astype(np.float32))[:rows, :columns], rtol=1e-2, atol=1e-2
    )


ROWS = (
    SUM.replace("[3,2000]", "[64,63]")
    .replace("f32[3]", "f32[64]")
    .replace("  n = f32[64,63] exponential(x)\n", "")
    .replace("reduce(n,", "reduce(x,")
)


@pytest.mark.parametrize("isolate", [False, True])
def test_what_a_change_of_the_ptx_would_do(isolate):
    x = np.ones((3, 2000), np.float32)
    emulation = xe.compile(SUM, backend="gpu", device="emulator", isolate=isolate).emulation(x)
    assert len(emulation.findings) == 0
    racing = emulation.edited("bar.sync 0;", "")
    assert racing.findings["kind"].str.startswith("race").all() and racing.findings[
        "hlo"
    ].tolist() == ["%r"]
    assert (
        "bar.sync" in emulation.text
        and "bar.sync" not in racing.text
        and "bar.sync" not in racing.ptx.text
    )
    assert racing.kernels["warp_instructions"][0] < emulation.kernels["warp_instructions"][0]
    # Stepped: without the barrier warp 0 reads what the others have not stored.
    stepped = emulation.stepper().run_to("bar.sync")
    last = next(
        line.split()[1].rstrip(",") for line in emulation.text.splitlines() if "shfl.sync" in line
    )
    assert (
        stepped.registers(0)[last].dtype.kind in "iu"
        and stepped.registers(0, floats=True)[last].dtype.kind == "f"
    )
    assert (
        stepped.step().warps["state"][0].startswith("waits at barrier")
        and stepped.warps["line"].isna().tolist()[0]
    )
    assert "NA" not in stepped.warps._repr_html_() and "nan" not in emulation.counters._repr_html_()
    ahead = racing.stepper().run_to("ld.shared")
    assert (
        ahead.warps["next"][0].startswith("ld.shared")
        and ahead.warps["line"][1] < ahead.warps["line"][0]
    )
    with pytest.raises(XlaExplorerError, match=r"the PTX has no 'bar\.sync 7;'"):
        emulation.edited("bar.sync 7;", "")


def test_an_access_that_is_not_coalesced_is_coloured():
    emulation = xe.compile(ROWS, backend="gpu", device="emulator").emulation(
        np.ones((64, 63), np.float32)
    )
    mine = next(
        line
        for line in emulation.text.splitlines()
        if "mul.wide.u32" in line and line.endswith(", 4;")
    )
    slow = emulation.edited(", 252;", ", 4;").edited(mine, mine.replace(", 4;", ", 252;"))
    assert len(slow.findings) == 0 and (slow.values[0] == 63).all()
    rows = slow.ptx.marked
    assert rows[rows["text"].str.contains("ld.global")]["marks"].tolist() == ["uncoalesced"]
    assert (
        "#ffd8a8" in slow.ptx.to_html()
        and slow.kernels["sectors"][0] > 2 * emulation.kernels["sectors"][0]
    )
