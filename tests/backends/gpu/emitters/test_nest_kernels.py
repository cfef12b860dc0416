"""Loop nests as kernels: every schedule has the evaluator's values and no race."""

import random
from collections import Counter

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.gpu.emitters.emitter_runner import check, run
from tests.compiler.codegen.nest.nest_checks import assert_near
from tests.compiler.codegen.nest.test_directives import BODIES, COMPUTATIONS, plain
from xla_explorer.backends.gpu.architecture import gpu_architecture
from xla_explorer.backends.gpu.emitters import write_gpu_kernels
from xla_explorer.backends.gpu.emitters.nests.kernel import nest_kernels
from xla_explorer.backends.gpu.emitters.selection import finished
from xla_explorer.backends.gpu.emulator import LaunchOptions
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest.ir import Reduce, walk
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import (
    Schedule,
    run_schedule,
)
from xla_explorer.compiler.codegen.nest.schedule_text import (
    ScheduleError,
    parse_directives,
)
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import verify_nest
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.text.parser import parse_hlo

NAMES = (
    "split",
    "split",
    "split",
    "vectorize",
    "unroll",
    "reorder",
    "collapse",
    "block",
    "block",
    "thread",
    "thread",
    "warp",
    "pad",
    "sink",
    "stage",
)


def random_text(choice, nest):
    """Return a random directive, often an invalid one."""
    name, axes = choice.choice(NAMES), list(nest.axes())
    axis = choice.choice(axes)
    following = axes[(axes.index(axis) + 1) % len(axes)]
    if name == "split":
        return f"split{{{axis},{choice.choice((2, 3, 4, 8, 16))}}}"
    if name == "pad":
        return f"pad{{{axis},{nest.axes()[axis].axis.extent + choice.choice((1, 2, 7))}}}"
    if name == "stage":
        return f"stage{{%{choice.choice(nest.arrays).name},{axis},shared}}"
    if name in ("reorder", "collapse"):
        return f"{name}{{{axis},{following}{choice.choice(('', ',repeating')) if name == 'collapse' else ''}}}"
    return f"{name}{{{axis}}}"


def scheduled(nest, text):
    """Return the nest with the directives of a text, none of which is refused."""
    found, trace = run_schedule(nest, parse_directives(text))
    assert all(step.changed for step in trace.steps), [
        (str(step.name), step.changed) for step in trace.steps
    ]
    return found


def run_nest(text, nest, *inputs, assemble=False):
    """Return the kernel of a nest of a module's root."""

    def write(root, facts):
        descriptor = nest_kernels(root, Schedule(nest, nest, ()), argument_slots(root))
        assert not isinstance(descriptor, Reason), descriptor
        return finished(descriptor, argument_slots(root), ())

    return run(text, *inputs, assemble=assemble, write=write)


def module_of(body):
    return f"HloModule m\n{COMPUTATIONS}\nENTRY main {{ {BODIES[body]} }}"


def check_random_schedules(seed, count):
    choice, seen = random.Random(seed), Counter()
    for _ in range(count):
        body = choice.choice([body for body in BODIES if "running" not in body])  # no scans on GPUs
        nest, operands, wanted = plain(body)
        done = []
        for _ in range(choice.randint(1, 9)):
            (directive,) = parse_directives(random_text(choice, nest))
            after, _ = run_schedule(nest, [directive])
            done += [str(directive)] if after is not nest else []
            nest = after
        root = parse_hlo(module_of(body)).entry.root
        refused = nest_kernels(root, Schedule(nest, nest, ()), argument_slots(root))
        if isinstance(refused, Reason):
            assert refused.code == "not-lowered", refused
            seen["not-lowered"] += 1
            continue
        try:
            assert_near(
                run_nest(module_of(body), nest, *operands).values,
                wanted,
                f"{body}: {','.join(done)}\n{nest_text(nest)}",
            )
        except BaseException:
            print(body, ",".join(done), nest_text(nest), sep="\n")
            raise
        seen.update([text.partition("{")[0] for text in done])
    return seen


def test_a_guarded_row_of_wide_loads_keeps_every_row():
    """Only the index along which a wide load moves is clamped to its multiples."""
    nest, operands, wanted = plain("all")
    text = "thread{i},unroll{k},split{j,4},split{jo,16}"
    found = scheduled(nest, text)
    assert_near(run_nest(module_of("all"), found, *operands).values, wanted, text)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(1000, 1200, 20))
def test_two_thousand_random_schedules_give_equal_values(first):
    seen = sum([check_random_schedules(seed, 10) for seed in range(first, first + 20)], Counter())
    assert set(NAMES) <= seen.keys() and seen["not-lowered"] < 20, seen


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(1)
def test_random_schedules_give_equal_values(seed):
    seen = check_random_schedules(seed, 12)
    assert seen.total() > seen["not-lowered"], seen


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "bias",
            "split{j,8},vectorize{ji},thread{jo}",
        ),  # the last lanes are beyond the rows, in the middle of what one access reads
        (
            "rows",
            "split{j,8},split{ji,4},thread{jio},warp{jii}",
        ),  # threads that fill a warp compute what others store
        (
            "dot",
            "split{j,3},block{i},thread{ji},block{jo},stage{%y,i,shared}",
        ),  # a block has a tile of its own, whoever else computes it
        (
            "dot",
            "stage{%y,i,shared},split{i,2},split{ks,8}",
        ),  # the last rows that fill the tile are beyond it
        (
            "window",
            "stage{%x.4,j,shared},pad{ls,4}",
        ),  # the tile has elements beyond the row, which must be filled beside a step beyond the tile
        ("window", "stage{%x.4,j,shared},pad{ls,4},thread{ls}"),
        (
            "dot",
            "warp{j},stage{%y,i,shared},thread{js}",
        ),  # threads without lanes of their own, where others have some
    ],
)
def test_schedules_that_random_ones_found(body, text):
    nest, operands, wanted = plain(body)
    assert_near(run_nest(module_of(body), scheduled(nest, text), *operands).values, wanted, text)


WINDOWS = """HloModule m
ENTRY e { x = f32[2,8,9,16] parameter(0) k = f32[3,3,1,16] parameter(1) ROOT r = f32[2,8,9,16] convolution(x, k),
  window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=16 }"""


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "collapse{i,j,repeating},collapse{ij,k,repeating},collapse{ijk,l,repeating},split{ijkl,128},block{ijklo},thread{ijkli},unroll{p}",
        "split{l,4},vectorize{li},collapse{i,j,repeating},collapse{ij,k,repeating},collapse{ijk,lo,repeating},split{ijklo,64},block{ijkloo},"
        "thread{ijkloi},unroll{p}",
        "thread{i},unroll{k}",  # the weights are in bounds without the guards of copies
    ],
)
def test_guards_neither_move_each_others_loads_out_of_the_array_nor_ask_for_copies_that_a_load_has_not(
    text,
):
    nest = nest_of(parse_hlo(WINDOWS).entry.root)
    operands = [
        np.random.default_rng(4).standard_normal(a.shape.dimensions).astype(np.float32)
        for a in nest.arrays
        if not a.written
    ]
    ran = run_nest(WINDOWS, scheduled(nest, text), *operands)
    assert_near(ran.values, evaluate_nest(nest, operands), text)
    if "vectorize" in text:
        assert {row["opcode"] for row in ran.rows if row["opcode"].startswith("ld.global")} == {
            "ld.global.nc.v4.b32"
        }


CHOSEN = {
    "a tile of a transposed array": "x = u32[512,512]{0,1} parameter(0) z = u32[] parameter(1) c = u32[512,512]{1,0} popcnt(x)"
    " ROOT p = u32[514,511] pad(c, z), padding=2_0x0_-1",
    "the last step of threads": "x = u16[5,7] parameter(0) z = u16[] parameter(1) c = u16[5,21] concatenate(x, x, x), dimensions={1}"
    " zero = u16[] constant(0) p = u16[5,24] pad(c, zero), padding=0_0x2_1 b = u16[5,24,3] broadcast(p), dimensions={0,1}"
    " ROOT r = u16[] reduce(b, z), dimensions={0,1,2}, to_apply=multiply",
}


@pytest.mark.parametrize("case", CHOSEN)
def test_what_a_choice_keeps_inside_its_array_is_read_behind_the_choice(case):
    combiner = (
        "multiply { a = u16[] parameter(0) b = u16[] parameter(1) ROOT s = u16[] multiply(a, b) }\n"
    )
    module = parse_hlo(f"HloModule m\n{combiner}ENTRY e {{ {CHOSEN[case]} }}")
    inputs = [
        np.ones(p.shape.dimensions, p.shape.element_type.dtype) for p in module.entry.parameters()
    ]
    ran = xe.compile(module, backend="gpu", device="emulator", cache=False).executable.emulate(
        inputs, LaunchOptions()
    )
    assert not ran.findings, ran.findings[0]
    np.testing.assert_array_equal(ran.values[0], xe.evaluate(module, *inputs))


def test_sums_that_do_not_fit_into_shared_memory_are_refused():
    text = in_an_entry(
        "x = f32[16,2048] parameter(0) z = f32[] parameter(1) ROOT r = f32[2048] reduce(x, z), dimensions={0}, to_apply=add"
    )
    root = parse_hlo(text).entry.root
    nest = scheduled(nest_of(root), "split{i,32},unroll{io},warp{ii},thread{j}")
    refused = nest_kernels(root, Schedule(nest, nest, ()), argument_slots(root))
    assert (
        isinstance(refused, Reason)
        and refused.code == "shared-memory"
        and "131072 bytes" in refused.message
    )


def test_blocks_do_not_share_the_filling_of_a_tile():
    nest = scheduled(plain("dot")[0], "split{j,4},block{i},stage{%y,i,shared}")
    with pytest.raises(ScheduleError, match="each block would store a part of %tile_4") as refused:
        Schedule(nest, nest).then("block{ks}")
    assert refused.value.reason.code == "blocks-share-no-array"


ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
FAMILIES = {
    "vector-loop": "x = f32[512,260] parameter(0) ROOT r = f32[512,260] multiply(x, x)",
    "loop": "x = f32[333,7] parameter(0) ROOT r = f32[333,7] negate(x)",
    "transpose": "x = f32[100,70] parameter(0) ROOT r = f32[70,100] transpose(x), dimensions={1,0}",
    "row-reduction": "x = f32[101,200] parameter(0) z = f32[] parameter(1) ROOT r = f32[101] reduce(x, z), dimensions={1}, to_apply=add",
    "column-reduction": "x = f32[130,256] parameter(0) z = f32[] parameter(1) ROOT r = f32[256] reduce(x, z), dimensions={0}, to_apply=add",
}
MORE = [
    (
        "loop",
        "x = f32[9] parameter(0) z = f32[] parameter(1) ROOT r = f32[9] reduce-window(x, z), window={size=3 pad=1_1}, to_apply=add",
    ),
    (
        "loop",
        "x = f32[9,20] parameter(0) z = f32[] parameter(1) ROOT r = f32[9,40] reduce-window(x, z), window={size=5x4 pad=2_2x2_2 lhs_dilate=1x2}, to_apply=add",
    ),
    (
        "loop",
        "x = f32[1,8,8,2] parameter(0) y = f32[2,3,2,2] parameter(1) ROOT r = f32[1,16,17,2] convolution(x, y), window={size=2x3 pad=1_1x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f",
    ),
    ("transpose", "x = s8[64,64] parameter(0) ROOT r = s8[64,64] transpose(x), dimensions={1,0}"),
    ("transpose", "x = f32[12,64] parameter(0) ROOT r = f32[64,12] transpose(x), dimensions={1,0}"),
    (
        "transpose",
        "x = c64[12,3,50] parameter(0) ROOT r = c64[50,3,12] transpose(x), dimensions={2,1,0}",
    ),
    ("loop", "x = f32[30,3] parameter(0) ROOT r = f32[3,30] transpose(x), dimensions={1,0}"),
    (
        "skinny-dot",
        "x = f32[64,100] parameter(0) y = f32[100,10] parameter(1) ROOT r = f32[64,10] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        "skinny-dot",
        "x = f32[3,100] parameter(0) y = f32[200,100] parameter(1) ROOT r = f32[3,200] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    ),
    (
        "skinny-dot",
        "x = f32[8,100] parameter(0) y = f32[100,96] parameter(1) ROOT r = f32[8,96] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        "skinny-dot",
        "x = f32[100,64] parameter(0) y = f32[100,5] parameter(1) ROOT r = f32[64,5] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    ),
    (
        "skinny-dot",
        "x = f32[100] parameter(0) ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    ),
]
OTHERS = {
    "not-an-array": "x = u64[2] parameter(0) ROOT r = (u64[2], u32[9]) rng-bit-generator(x), algorithm=rng_philox",
}


ONE_THREAD_EACH = {
    "x = f32[300,3] parameter(0) z = f32[] parameter(1) ROOT r = f32[300] reduce(x, z), dimensions={1}, to_apply=add": "unroll{j}",
    "x = f32[4,0] parameter(0) z = f32[] parameter(1) ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add": "thread{i}",
    "x = f32[9,5] parameter(0) ROOT r = f32[9,9] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}": "collapse{i,j,repeating}",
    "x = f32[9] parameter(0) z = f32[] parameter(1) ROOT r = f32[4] reduce-window(x, z), window={size=3 stride=2}, to_apply=add": "thread{i}",
    "x = f32[30,3] parameter(0) y = f32[200] parameter(1) ROOT r = (f32[30,3], f32[200]) fusion(x, y), kind=kLoop, calls=two": "pad{ij,256}",
    "x = f32[30,40] parameter(0) y = s32[30] parameter(1) ROOT r = f32[30,40] fusion(x, y), kind=kLoop, calls=rows": "sink{i}",
}
INSIDE = (
    "two { x = f32[30,3] parameter(0) y = f32[200] parameter(1) n = f32[30,3] negate(x) e = f32[200] abs(y) "
    "ROOT t = (f32[30,3], f32[200]) tuple(n, e) }\n"
    "rows { x = f32[30,40] parameter(0) y = s32[30] parameter(1) f = f32[30] convert(y) b = f32[30,40] broadcast(f), dimensions={0} "
    "ROOT a = f32[30,40] add(x, b) }\n"
)


def in_an_entry(body):
    return f"HloModule m\n{ADD}{INSIDE}ENTRY e {{ {body} }}"


@pytest.mark.parametrize(("emitter", "body"), [*FAMILIES.items(), *MORE])
def test_what_policies_do_is_legal_directive_by_directive(emitter, body):
    text = in_an_entry(body)
    root = parse_hlo(text).entry.root
    shapes = [o.shape for o in dict.fromkeys(root.operands)]
    inputs = [
        np.random.default_rng(3).standard_normal(shape.dimensions).astype(shape.element_type.dtype)
        for shape in shapes
    ]
    ran = check(text, *inputs, assemble=False)
    schedule = ran.emitted.nest
    assert (
        ran.emitted.emitter == emitter and isinstance(schedule, Schedule) and ran.conflicts() == 1
    )
    assert nest_text(schedule.start) == nest_text(nest_of(root))
    assert nest_text(scheduled(schedule.start, str(schedule))) == nest_text(schedule.nest)


CUT = {
    "x = f32[4,60000] parameter(0) z = f32[] parameter(1) ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add": 0,
    "x = f32[3,10007] parameter(0) z = f32[] parameter(1) ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=add": 2,
    "x = f32[20000,8] parameter(0) z = f32[] parameter(1) ROOT r = f32[8] reduce(x, z), dimensions={0}, to_apply=add": 0,
    "x = f32[2,20011,8] parameter(0) z = f32[] parameter(1) ROOT r = f32[2,8] reduce(x, z), dimensions={1}, to_apply=add": 2,
}


@pytest.mark.parametrize("body", CUT)
def test_a_cut_reduction_is_two_nests_that_mean_the_same(body):
    text = in_an_entry(body)
    root = parse_hlo(text).entry.root
    x = (
        np.random.default_rng(5)
        .integers(-9, 9, root.operands[0].shape.dimensions)
        .astype(np.float32)
    )
    schedule = check(text, x, np.float32(3), assemble=False).emitted.nest
    assert schedule.following is not None and "then" in str(schedule)
    assert sum(isinstance(s, Reduce) for s, _ in walk(schedule.following.start.body)) == 1 + (
        CUT[body] > 0
    )  # and what no part has
    names = {a.name: v for a, v in zip(nest_of(root).arrays, [x, np.float32(3)], strict=False)}
    for stage in (schedule, schedule.following):
        assert nest_text(scheduled(stage.start, str(stage).partition(";")[0])) == nest_text(
            stage.nest
        )
        verify_nest(stage.nest)
        written = [a.name for a in stage.nest.arrays if a.written]
        names |= dict(
            zip(
                written,
                evaluate_nest(
                    stage.nest, [names[a.name] for a in stage.nest.arrays if not a.written]
                ),
                strict=True,
            )
        )
    assert_near([names[written[0]]], [evaluate_nest(nest_of(root), [x, np.float32(3)])[0]], body)


def test_results_of_different_dimensions_are_reduced_and_stored_by_kernels_of_their_own():
    text = f"""HloModule m
{ADD}f {{ x = f32[50,300] parameter(0) y = f32[40,20] parameter(1) z = f32[] constant(0) e = f32[40,20] abs(y)
  s = f32[50] reduce(x, z), dimensions={{1}}, to_apply=add ROOT t = (f32[40,20], f32[50]) tuple(e, s) }}
ENTRY e {{ x = f32[50,300] parameter(0) y = f32[40,20] parameter(1) ROOT r = (f32[40,20], f32[50]) fusion(x, y), kind=kInput, calls=f }}"""
    inputs = [
        np.arange(n * m, dtype=np.float32).reshape(n, m) / 7 for n, m in ((50, 300), (40, 20))
    ]
    emitted = check(text, *inputs, assemble=False).emitted
    assert len(emitted.kernels) == 2 and "thread{" in str(emitted.nest.following)


@pytest.mark.parametrize("body", ONE_THREAD_EACH)
def test_one_thread_computes_a_result_or_a_few(body):
    text = in_an_entry(body)
    root = parse_hlo(text).entry.root
    inputs = [
        np.arange(o.shape.element_count)
        .reshape(o.shape.dimensions)
        .astype(o.shape.element_type.dtype)
        for o in root.operands
    ]
    schedule = check(
        text, *inputs[: len(dict.fromkeys(root.operands))], assemble=False
    ).emitted.nest
    assert isinstance(schedule, Schedule) and ONE_THREAD_EACH[body] in str(schedule)
    assert nest_text(scheduled(nest_of(root), str(schedule))) == nest_text(schedule.nest)


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_no_nest_has_a_reason(code):
    emitted = write_gpu_kernels(
        parse_hlo(in_an_entry(OTHERS[code])).entry.root, gpu_architecture("sm_90")
    )
    assert isinstance(emitted.nest, Reason) and emitted.nest.code == code


def test_copies_that_share_what_they_read_ask_for_each_of_their_guards():
    text = module_of("padded-convolution")
    shared = scheduled(nest_of(parse_hlo(text).entry.root), "split{n,2},unroll{j}")
    assert np.allclose(
        run_nest(text, shared, *plain("padded-convolution")[1]).values[0],
        plain("padded-convolution")[2][0],
        1e-4,
    )


def test_rows_that_do_not_fill_a_block_take_part_where_threads_meet():
    text = module_of("rows")
    draft = nest_of(parse_hlo(text).entry.root)
    guarded = scheduled(draft, "split{j,8},thread{ji},split{i,2},thread{ii},block{io}")
    assert np.allclose(
        run_nest(text, guarded, *plain("rows")[1]).values[0], plain("rows")[2][0], 1e-4
    )
