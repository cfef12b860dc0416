"""Named barriers, mbarriers, asynchronous and tensor copies, wgmma: values, planted faults."""

import ml_dtypes
import numpy as np
import pytest

from tests.backends.gpu.emulator.ptx_kernels import HEAD, Unwritten, launch, one_instruction
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.backends.gpu.emulator.instructions.warpgroup_products import (
    DescribedTile,
    tile_bytes,
)
from xla_explorer.backends.gpu.emulator.map_bytes import TensorMapError
from xla_explorer.backends.gpu.ptx_assembler import assemble_ptx, find_ptxas
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap, TensorMap

RANDOM = np.random.default_rng(3)
HOPPER = HEAD.replace("sm_80", "sm_90a")


def kinds(result):
    return {f.kind for f in result.findings}


def kernel_of(body, registers="", parameters=1, shared=""):
    names = ", ".join([f".param .u64 p{k}" for k in range(parameters)])
    loads = "\n".join([f"ld.param.u64 %rd{k}, [p{k}];" for k in range(parameters)])
    return f"""{HOPPER}
.visible .entry k({names})
{{
  .reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<8>; {registers}
  {shared}
  {loads}
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd20, %r0, 4;
  add.s64 %rd21, %rd0, %rd20;
{body}
}}
"""


# The first warp writes, the second one reads; they meet at barrier 1.
HANDED_OVER = kernel_of(
    """
  mov.u32 %r1, buffer;
  and.b32 %r2, %r0, 31;
  shl.b32 %r3, %r2, 2;
  add.u32 %r4, %r1, %r3;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra READ;
  add.u32 %r5, %r0, 100;
  st.shared.u32 [%r4], %r5;
  bar.arrive 1, 64;
  ret;
READ:
  bar.sync 1, 64;
  ld.shared.u32 %r6, [%r4];
  st.global.u32 [%rd21], %r6;
  ret;
""",
    shared=".shared .align 16 .b8 buffer[128];",
)


def test_named_barrier_hands_over():
    out = np.zeros(64, np.uint32)
    result, _ = launch(HANDED_OVER, 1, 64, [out])
    assert result.findings == [] and (out[32:] == np.arange(100, 132)).all()


def test_named_barrier_faults():
    out = np.zeros(64, np.uint32)
    assert "race: read after write" in kinds(
        launch(HANDED_OVER.replace("bar.sync 1, 64;", ""), 1, 64, [out])[0]
    )
    assert kinds(launch(HANDED_OVER.replace("bar.arrive 1, 64;", ""), 1, 64, [out])[0]) >= {
        "barrier that is never complete"
    }
    assert kinds(launch(HANDED_OVER.replace("bar.arrive 1", "bar.arrive 2"), 1, 64, [out])[0]) >= {
        "barrier that is never complete"
    }


@pytest.mark.parametrize(("mode", "wanted"), [("popc.u32", 3), ("and.pred", 0), ("or.pred", 1)])
def test_reduction_over_the_block(mode, wanted):
    take = (
        "bar.red.popc.u32 %r1, 0, %p1;"
        if "popc" in mode
        else f"bar.red.{mode} %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;"
    )
    out = np.zeros(96, np.uint32)
    body = f"rem.u32 %r2, %r0, 32; setp.eq.u32 %p1, %r2, 5; {take} st.global.u32 [%rd21], %r1; ret;"
    result, _ = launch(kernel_of(body), 1, 96, [out])
    assert result.findings == [] and (out == wanted).all()


def test_one_lane_is_elected():
    out = np.zeros(32, np.uint32)
    body = "elect.sync %r1|%p1, 0xffffffff; selp.u32 %r2, 7, %r1, %p1; st.global.u32 [%rd21], %r2; ret;"
    launch(kernel_of(body), 1, 32, [out])
    assert out[0] == 7 and (out[1:] == 0).all()


def test_lanes_with_equal_values():
    value, out = (np.arange(32) % 3).astype(np.uint32), np.zeros(32, np.uint32)
    launch(
        one_instruction("match.any.sync.b32 %d, %a0, 0xffffffff;", [], ["b32"], 32, 32),
        1,
        32,
        [value, out],
    )
    masks = [sum(1 << int(lane) for lane in np.flatnonzero(value == k)) for k in range(3)]
    assert (out == np.array(masks, np.uint32)[value]).all()
    body = "match.all.sync.b32 %d|%p1, %a0, 0xffffffff;"
    launch(one_instruction(body, [], ["b32"], 32, 32), 1, 32, [value, out])
    assert (out == 0).all()
    launch(one_instruction(body, [], ["b32"], 32, 32), 1, 32, [np.full(32, 9, np.uint32), out])
    assert (out == 0xFFFFFFFF).all()


BRANCHES = kernel_of("""
  rem.u32 %r1, %r0, 3;
  TABLE: .branchtargets FIRST, SECOND,
    THIRD;
  brx.idx %r1, TABLE;
FIRST: mov.u32 %r2, 10; bra DONE;
SECOND: mov.u32 %r2, 20; bra DONE;
THIRD: mov.u32 %r2, 30;
DONE: st.global.u32 [%rd21], %r2; ret;
""")


def test_branch_through_a_table():
    out = np.zeros(64, np.uint32)
    result, _ = launch(BRANCHES, 1, 64, [out])
    assert result.findings == [] and (out == 10 * (np.arange(64) % 3 + 1)).all()
    assert kinds(launch(BRANCHES.replace("%r0, 3", "%r0, 4"), 1, 64, [out])[0]) == {
        "branch beyond its table"
    }


# Every thread copies a word and reads its neighbour's.
COPIED = kernel_of(
    """
  mov.u32 %r1, buffer;
  shl.b32 %r2, %r0, 2;
  add.u32 %r3, %r1, %r2;
  cp.async.ca.shared.global [%r3], [%rd21], 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  bar.sync 0;
  xor.b32 %r4, %r2, 128;
  add.u32 %r5, %r1, %r4;
  ld.shared.u32 %r6, [%r5];
  add.s64 %rd22, %rd1, %rd20;
  st.global.u32 [%rd22], %r6;
  ret;
""",
    parameters=2,
    shared=".shared .align 16 .b8 buffer[256];",
)
NOT_WAITED = "read of a copy that was not waited for (cp.async.wait_group)"


def test_asynchronous_copy():
    x, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)

    def run(text):
        return kinds(launch(text, 1, 64, [x, Unwritten(out)])[0])

    assert run(COPIED) == set() and (out == np.arange(64) ^ 32).all()
    assert NOT_WAITED in run(COPIED.replace("cp.async.wait_group 0;", ""))
    assert NOT_WAITED in run(COPIED.replace("wait_group 0", "wait_group 1"))
    assert run(COPIED.replace("bar.sync 0;", "")) == {"race: read after write"}
    swapped = COPIED.replace(
        "cp.async.wait_group 0;\n  bar.sync 0;", "bar.sync 0;\n  cp.async.wait_group 0;"
    )
    assert run(swapped) == {"race: read after write"}
    assert (
        run(
            COPIED.replace("cp.async.commit_group;\n  cp.async.wait_group 0;", "cp.async.wait_all;")
        )
        == set()
    )


# The second warp waits for all lanes of the first one.
OBJECT = kernel_of(
    """
  mov.u32 %r1, object;
  setp.ne.u32 %p1, %r0, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [%r1], 32;
READY:
  bar.sync 0;
  setp.ge.u32 %p2, %r0, 32;
  @%p2 bra WAIT;
  st.global.u32 [%rd21], %r0;
  mbarrier.arrive.shared.b64 %rd5, [%r1];
  ret;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r1], 0;
  @!%p3 bra WAIT;
  st.global.u32 [%rd21], %r0;
  ret;
""",
    shared=".shared .align 8 .b8 object[8];",
)


def test_mbarrier():
    out = np.zeros(64, np.uint32)

    def run(text):
        return launch(text, 1, 64, [Unwritten(out)])[0]

    assert kinds(run(OBJECT)) == set() and (out == np.arange(64)).all()
    assert kinds(run(OBJECT.replace("mbarrier.init.shared.b64 [%r1], 32;", ""))) == {
        "mbarrier that was not initialised"
    }
    assert kinds(run(OBJECT.replace("], 32;", "], 16;"))) == {
        "more arrivals than the mbarrier counts in a phase"
    }
    (finding,) = run(OBJECT.replace("], 32;", "], 33;")).findings
    assert (
        finding.kind == "wait for an mbarrier that never ends"
        and "1 of 33 arrivals and 0 bytes" in finding.example
    )
    assert kinds(run(OBJECT.replace("bar.sync 0;", ""))) >= {"race: read after write"}
    assert kinds(run(OBJECT.replace("[%r1], 0;\n  @!", "[%r1+4], 0;\n  @!"))) == {"misaligned"}


def boxes(shape, box, first, swizzle, body=""):
    """Return a kernel whose one thread copies a box to shared memory and back.

    All of shared memory is copied out too.
    """
    rank, size = len(shape), 2 * int(np.prod(box))
    places = ", ".join([str(v) for v in first])
    text = f"""{HOPPER}
.visible .entry k(.param .u64 p0, .param .align 64 .b8 map0[128], .param .align 64 .b8 map1[128])
{{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 1024 .b8 tile[{size}];
  .shared .align 8 .b8 object[8];
  ld.param.u64 %rd0, [p0];
  mov.b64 %rd1, map0; cvta.param.u64 %rd2, %rd1; mov.b64 %rd3, map1; cvta.param.u64 %rd4, %rd3;
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, object;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {size};
  cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {{{places}}}], [%r2];
WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra WAIT;
  cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%rd4, {{{places}}}], [%r1];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  mov.u32 %r3, 0;
LOOP: add.u32 %r4, %r1, %r3; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd6, %r3; add.s64 %rd7, %rd0, %rd6; st.global.u32 [%rd7], %r5;
  add.u32 %r3, %r3, 4; setp.lt.u32 %p2, %r3, {size}; @%p2 bra LOOP;
  ret;
}}
"""
    if find_ptxas() is not None:
        assemble_ptx(text, "sm_90a")
    x = RANDOM.integers(1, 1000, shape[::-1]).astype(np.uint16)
    device, module = GlobalMemory(), parse_ptx(text)
    addresses = [
        device.allocate(size, "tile"),
        device.allocate(x.nbytes, "x"),
        device.allocate(x.nbytes, "y"),
    ]
    device.write(addresses[1], x.reshape(-1).view(np.uint8))
    device.write(addresses[2], np.zeros(x.nbytes, np.uint8))
    strides = tuple(int(v) for v in 2 * np.cumprod(shape[:-1]))
    maps = [
        PlacedTensorMap(TensorMap(0, "u16", 2, shape, strides, box, swizzle), address)
        for address in addresses[1:]
    ]
    result = EmulatedKernel(module, module.kernels["k"], device).launch(
        1, 1, [addresses[0], *maps], LaunchOptions()
    )
    assert result.findings == [], result.findings[0]
    tile = device.read(addresses[0], size).view(np.uint16)
    back = device.read(addresses[2], x.nbytes).view(np.uint16).reshape(x.shape)
    return x, tile, back


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("first", [(0, 0), (16, 5), (-8, -3), (200, 90)])
@pytest.mark.sampled(3)
def test_boxes(swizzle, first):
    shape, box = (208, 96), ((swizzle or 64) // 2, 16)
    x, tile, back = boxes(shape, box, first, swizzle)
    wanted, inside = np.zeros(box[::-1], np.uint16), np.zeros_like(x)
    for row in range(box[1]):
        for column in range(box[0]):
            r, c = first[1] + row, first[0] + column
            if 0 <= r < shape[1] and 0 <= c < shape[0]:
                wanted[row, column] = inside[r, c] = x[r, c]
    at = np.arange(wanted.size).reshape(wanted.shape) * 2
    mask = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle]
    place = at ^ ((at >> 7 & mask) << 4)
    assert (tile[place // 2] == wanted).all() and (back == inside).all()


def test_boxes_of_three_dimensions():
    x, tile, _ = boxes((64, 6, 4), (64, 2, 2), (0, 1, 2), 0)
    assert (tile.reshape(2, 2, 64) == x[2:4, 1:3]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strides": (24,)}, "multiples of 16"),
        ({"box": (64, 257)}, "extents of 1 to 256"),
        ({"box": (128, 8)}, "its swizzle only 128"),
        ({"box": (4, 8)}, "not a multiple of 16"),
        ({"element_type": "c64"}, "no elements of c64"),
        ({"strides": ()}, "one stride less"),
    ],
)
def test_maps_that_no_device_takes(change, message):
    from xla_explorer.backends.gpu.emulator.map_bytes import encode

    good = TensorMap(0, "bf16", 2, (64, 64), (128,), (64, 8))
    with pytest.raises(TensorMapError, match=message):
        encode(PlacedTensorMap(good._replace(**change), 256))
    with pytest.raises(TensorMapError, match="multiples of 16"):
        encode(PlacedTensorMap(good, 264))


def words(values, kind):
    if kind == "tf32":
        return values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return values.astype(ml_dtypes.bfloat16 if kind == "bf16" else np.float16).view(np.uint16)


def product(kind, swizzle, minor, columns, in_registers=False, change=lambda text: text):
    """Return a kernel whose warpgroup multiplies tiles at the descriptors' addresses."""
    width, depth = (4, 8) if kind == "tf32" else (2, 16)
    a, b = (
        RANDOM.integers(-4, 5, (64, depth)).astype(float),
        RANDOM.integers(-4, 5, (columns, depth)).astype(float),
    )
    code = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    memory, descriptors, start = np.zeros(96 << 10, np.uint8), [], 0
    for values, k_minor in ((a, minor[0]), (b, minor[1])):
        leading, stride = (2048, 1024) if swizzle else ((128, 256) if k_minor else (4096, 128))
        if swizzle and k_minor:
            stride = 8 * swizzle
        descriptors.append(code << 62 | stride >> 4 << 32 | leading >> 4 << 16 | start >> 4)
        at = tile_bytes(descriptors[-1], DescribedTile(len(values), depth, width, k_minor))
        assert len(np.unique(at)) == at.size and at.min() >= start
        for byte in range(width):
            memory[at + byte] = (words(values, kind) >> (8 * byte)).astype(np.uint8)
        start = -(-(int(at.max()) + width) // 1024) * 1024
    size = -(-start // 2048) * 2048
    count = columns // 2
    sums = ", ".join([f"%s{k}" for k in range(count)])
    tail = (
        f", {int(not minor[0])}, {int(not minor[1])}"
        if kind != "tf32" and not in_registers
        else f", {int(not minor[1])}"
    )
    tail = tail if kind != "tf32" else ""
    left = "{%a0, %a1, %a2, %a3}" if in_registers else "%rd4"
    fragments = "\n".join([f"ld.global.b32 %a{k}, [%rd9+{4 * k}];" for k in range(4)])
    text = f"""{HOPPER}
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4)
.maxntid 128
{{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %s<{count}>; .reg .b32 %a<4>;
  .shared .align 1024 .b8 tile[{size}];
  ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd4, [p2]; ld.param.u64 %rd5, [p3]; ld.param.u64 %rd8, [p4];
  mov.u32 %r0, %tid.x; mul.wide.u32 %rd6, %r0, 16; add.s64 %rd9, %rd8, %rd6;
  {fragments}
  shl.b32 %r1, %r0, 2; mov.u32 %r5, tile;
PUT: cvt.u64.u32 %rd2, %r1; add.s64 %rd3, %rd0, %rd2; ld.global.u32 %r2, [%rd3]; add.u32 %r6, %r5, %r1; st.shared.u32 [%r6], %r2;
  add.u32 %r1, %r1, 512; setp.lt.u32 %p1, %r1, {size}; @%p1 bra PUT;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  {" ".join([f"mov.f32 %s{k}, 0f3F800000;" for k in range(count)])}
  setp.eq.u32 %p2, %r1, %r1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.f32.{kind}.{kind} {{{sums}}}, {left}, %rd5, %p2, 1, 1{tail};
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd6, %r0, {4 * count}; add.s64 %rd7, %rd1, %rd6;
  {" ".join([f"st.global.f32 [%rd7+{4 * k}], %s{k};" for k in range(count)])}
  ret;
}}
"""
    if find_ptxas() is not None:
        assemble_ptx(text, "sm_90a")
    out = np.zeros((128, count), np.float32)
    registers = np.zeros((128, 4), np.uint32)
    lane = np.arange(128)
    for k in range(4):
        row, column = (
            lane // 32 * 16 + lane % 32 // 4 + 8 * (k & 1),
            lane % 4 * (4 // width) + 4 * (4 // width) * (k >> 1),
        )
        packed = [
            words(a, kind)[row, column + e].astype(np.uint32) << (16 * e) for e in range(4 // width)
        ]
        registers[:, k] = np.bitwise_or.reduce(packed)
    counters = LaunchOptions(counters=True, global_races=True, batch_threads=128)
    result, _ = launch(
        change(text), 1, 128, [memory[:size], Unwritten(out), *descriptors, registers], counters
    )
    found = np.zeros((64, columns))
    for k in range(count):
        found[
            lane // 32 * 16 + lane % 32 // 4 + 8 * (k >> 1 & 1),
            8 * (k >> 2) + lane % 4 * 2 + (k & 1),
        ] = out[:, k]
    return result, found, a @ b.T + 1


@pytest.mark.parametrize("minor", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize(
    ("kind", "swizzle"), [("bf16", 128), ("f16", 64), ("bf16", 32), ("f16", 0)]
)
@pytest.mark.sampled(6)
def test_warpgroup_products(kind, swizzle, minor):
    result, found, wanted = product(
        kind, swizzle, minor, 64 if swizzle == 128 or all(minor) else 16 if swizzle == 32 else 32
    )
    assert result.findings == [] and (found == wanted).all()


@pytest.mark.parametrize(
    ("kind", "columns", "in_registers"),
    [("tf32", 40, False), ("tf32", 8, True), ("bf16", 256, True)],
)
def test_other_operands(kind, columns, in_registers):
    result, found, wanted = product(kind, 32, (True, True), columns, in_registers)
    assert result.findings == [] and (found == wanted).all()


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (
            "fence.proxy.async.shared::cta;",
            "",
            "written by ordinary stores, read by the asynchronous proxy without fence.proxy.async",
        ),
        ("wgmma.fence.sync.aligned;", "", "product on registers without wgmma.fence"),
        (
            "wgmma.wait_group.sync.aligned 0;",
            "",
            "result of a product read before wgmma.wait_group",
        ),
        ("%rd5, %p2", "", "uninitialised read"),
    ],
)
def test_planted_faults_around_a_product(old, new, kind):
    def change(text):
        assert old in text
        if kind == "uninitialised read":  # a descriptor of unwritten memory
            return text.replace("tile[", "tile[6").replace(
                "wgmma.fence", "add.s64 %rd5, %rd5, 2048; wgmma.fence"
            )
        return text.replace(old, new)

    assert kind in kinds(product("bf16", 128, (True, True), 64, change=change)[0])


def test_stepping_through_barriers_and_waits():
    from xla_explorer.backends.gpu.emulator import WarpStepper

    module, device = parse_ptx(OBJECT), GlobalMemory()
    out = device.allocate(256, "out")
    stepper = WarpStepper(EmulatedKernel(module, module.kernels["k"], device), 1, 64, [out])
    while stepper.runnable:
        stepper.step(max(stepper.runnable))  # the waiting warp first, for as long as it can
    assert stepper.findings == [] and (device.read(out, 256).view(np.uint32) == np.arange(64)).all()
