"""One small well-formed program for each opcode, made with the builder, for other tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.hlo.builder import HloBuilder, HloValue, method_name
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import C64, F32, PRED, S32, TOKEN, U32, U64
from xla_explorer.hlo.shape import parse_shape

Program = Callable[..., Any]
# A pair comes in, twice its first part goes out, its second is the result.
FEED = """HloModule feed
ENTRY main {
  begin = token[] after-all()
  fed = ((f32[2], s32[]), token[]) infeed(begin)
  data = (f32[2], s32[]) get-tuple-element(fed), index=0
  next = token[] get-tuple-element(fed), index=1
  x = f32[2] get-tuple-element(data), index=0
  twice = f32[2] add(x, x)
  out = token[] outfeed(twice, next), outfeed_shape=f32[2]
  ROOT n = s32[] get-tuple-element(data), index=1
}"""

A = F32[4, 6]


def add(a: HloValue, b: HloValue) -> HloValue:
    return a + b


PROGRAMS: dict[str, tuple[tuple[Any, ...], Program]] = {
    "parameter": ((A,), lambda b, x: x),
    "constant": ((), lambda b: b.constant([[1, 2], [3, 4]], F32)),
    "tuple": ((A,), lambda b, x: b.tuple(x, x)),
    "get-tuple-element": ((A,), lambda b, x: b.tuple(x, x)[1]),
    "after-all": ((), lambda b: b.after_all(b.after_all())),
    "add-dependency": ((A,), lambda b, x: b.add_dependency(x, b.after_all())),
    "opt-barrier": ((A,), lambda b, x: b.opt_barrier(x)),
    "domain": (
        (A,),
        lambda b, x: b.domain(x, domain='{kind="sharding", entry={replicated}, exit={replicated}}'),
    ),
    "iota": ((), lambda b: b.iota(S32[3, 4], 1)),
    "broadcast": ((F32[6],), lambda b, x: b.broadcast(x, (4, 6), (1,))),
    "reshape": ((A,), lambda b, x: b.reshape(x, 3, 8)),
    "dynamic-reshape": (
        (A, S32),
        lambda b, x, n: b.dynamic_reshape(x, n, shape=parse_shape("f32[<=24]")),
    ),
    "bitcast": ((A,), lambda b, x: b.bitcast(x, shape=F32[24])),
    "bitcast-convert": ((A,), lambda b, x: b.bitcast_convert(x, U32)),
    "copy": ((A,), lambda b, x: b.copy(x)),
    "copy-start": ((A,), lambda b, x: b.copy_done(b.copy_start(x))),
    "transpose": ((A,), lambda b, x: b.transpose(x, dimensions=(1, 0))),
    "reverse": ((A,), lambda b, x: b.reverse(x, dimensions=0)),
    "slice": ((A,), lambda b, x: b.slice(x, slice=[(0, 2), (1, 6, 2)])),
    "dynamic-slice": ((A, S32, S32), lambda b, x, i, j: b.dynamic_slice(x, [i, j], sizes=(1, 3))),
    "dynamic-update-slice": (
        (A, F32[1, 2], S32),
        lambda b, x, u, i: b.dynamic_update_slice(x, u, i, i),
    ),
    "concatenate": ((A, A), lambda b, x, y: b.concatenate([x, y], dimensions=1)),
    "pad": ((A,), lambda b, x: b.pad(x, 0, padding="1_1x0_0_2")),
    "gather": (
        (A, S32[5, 1]),
        lambda b, x, i: b.gather(
            x,
            i,
            offset_dims=1,
            collapsed_slice_dims=0,
            start_index_map=0,
            index_vector_dim=1,
            slice_sizes=(1, 6),
        ),
    ),
    "scatter": (
        (A, S32[5, 1], F32[5, 6]),
        lambda b, x, i, u: b.scatter(
            x,
            i,
            u,
            update_window_dims=1,
            inserted_window_dims=0,
            scatter_dims_to_operand_dims=0,
            index_vector_dim=1,
            to_apply=add,
        ),
    ),
    "get-dimension-size": ((A,), lambda b, x: b.get_dimension_size(x, dimension=1)),
    "set-dimension-size": ((A, S32), lambda b, x, n: b.set_dimension_size(x, n, dimensions=1)),
    "dot": (
        (A, F32[6, 2]),
        lambda b, x, y: b.dot(
            x, y, lhs_contracting_dims=1, rhs_contracting_dims=0, operand_precision=("high",) * 2
        ),
    ),
    "ragged-dot": (
        (A, F32[2, 6, 3], S32[2]),
        lambda b, x, y, g: b.ragged_dot(
            x,
            y,
            g,
            lhs_contracting_dims=1,
            rhs_contracting_dims=1,
            lhs_ragged_dims=0,
            rhs_group_dims=0,
        ),
    ),
    "scaled-dot": (
        (A, F32[4, 1], F32[2, 6], F32[2, 1]),
        lambda b, x, s, y, t: b.scaled_dot(
            x, s, y, t, lhs_contracting_dims=1, rhs_contracting_dims=1, shape=F32[4, 2]
        ),
    ),
    "convolution": (
        (F32[1, 8, 8, 3], F32[3, 3, 3, 5]),
        lambda b, x, k: b.convolution(
            x,
            k,
            window={"size": (3, 3), "stride": 2, "pad": ((1, 1), (1, 1))},
            dim_labels="b01f_01io->b01f",
        ),
    ),
    "fft": ((F32[4, 8],), lambda b, x: b.fft(x, fft_type="RFFT", fft_length=8)),
    "cholesky": ((F32[3, 3],), lambda b, x: b.cholesky(x, lower=True)),
    "triangular-solve": (
        (F32[3, 3], F32[3, 2]),
        lambda b, x, y: b.triangular_solve(x, y, left_side=True, lower=True),
    ),
    "reduce": ((A,), lambda b, x: b.reduce(x, 0, dimensions=1, to_apply=add)),
    "reduce-window": (
        (A,),
        lambda b, x: b.reduce_window(x, b.constant(0.0), window="{size=2x2}", to_apply=add),
    ),
    "select-and-scatter": (
        (A, F32[2, 3]),
        lambda b, x, s: b.select_and_scatter(
            x,
            s,
            b.constant(0.0),
            window="{size=2x2 stride=2x2}",
            select=lambda p, q: p >= q,
            scatter=add,
        ),
    ),
    "map": ((A, A), lambda b, x, y: b.map(x, y, to_apply=add, dimensions=(0, 1))),
    "scan": (
        (F32[5], F32),
        lambda b, x, c: b.emit(
            "scan", (x, c), {"dimensions": 0, "num_carries": 1, "to_apply": scalar_step(b)}
        ),
    ),
    "sort": (
        (A,),
        lambda b, x: b.sort(x, dimensions=1, to_apply=lambda p, q: p < q, is_stable=True),
    ),
    "topk": ((A,), lambda b, x: b.topk(x, k=2)),
    "batch-norm-training": (
        (A, F32[6], F32[6]),
        lambda b, *v: b.batch_norm_training(*v, epsilon=0.001, feature_index=1),
    ),
    "batch-norm-inference": (
        (A, *[F32[6]] * 4),
        lambda b, *v: b.batch_norm_inference(*v, epsilon=0.001, feature_index=1),
    ),
    "batch-norm-grad": (
        (A, F32[6], F32[6], F32[6], A),
        lambda b, *v: b.batch_norm_grad(*v, epsilon=0.001, feature_index=1),
    ),
    "while": ((F32,), lambda b, x: b.while_(x, condition=lambda v: v < 9, body=lambda v: v + 1)),
    "conditional": (
        (PRED, A),
        lambda b, p, x: b.conditional(p, x, x, branch_computations=(lambda v: v, lambda v: -v)),
    ),
    "call": ((A, A), lambda b, x, y: b.call(x, y, to_apply=add)),
    "fusion": ((A, A), lambda b, x, y: b.fusion(x, y, kind="kLoop", calls=add)),
    "async-start": (
        (A,),
        lambda b, x: b.async_done(
            b.async_update(
                b.async_start(x, calls=lambda v: v.copy(), shape="((f32[4,6]), f32[4,6], s32[])")
            )
        ),
    ),
    "all-gather": (
        (A,),
        lambda b, x: b.all_gather(x, dimensions=0, replica_groups=((0, 1),), shape=F32[8, 6]),
    ),
    "all-gather-start": (
        (A,),
        lambda b, x: b.all_gather_done(
            b.all_gather_start(
                x, dimensions=0, replica_groups=[[0, 1]], shape="(f32[4,6], f32[8,6])"
            )
        ),
    ),
    "all-reduce": ((A,), lambda b, x: b.all_reduce(x, to_apply=add, replica_groups="{{0,1}}")),
    "all-reduce-start": ((A,), lambda b, x: b.all_reduce_done(b.all_reduce_start(x, to_apply=add))),
    "reduce-scatter": (
        (A,),
        lambda b, x: b.reduce_scatter(
            x, dimensions=0, replica_groups="{{0,1}}", to_apply=add, shape=F32[2, 6]
        ),
    ),
    "all-to-all": ((A,), lambda b, x: b.all_to_all(x, dimensions=0, replica_groups="{{0,1}}")),
    "ragged-all-to-all": (
        (F32[8], F32[8], *[S32[2]] * 4),
        lambda b, *v: b.ragged_all_to_all(*v, replica_groups="{{0,1}}"),
    ),
    "collective-permute": (
        (A,),
        lambda b, x: b.collective_permute(x, source_target_pairs=((0, 1), (1, 0))),
    ),
    "collective-permute-start": (
        (A,),
        lambda b, x: b.collective_permute_done(
            b.collective_permute_start(
                x, pairs="{{0,1}}", shape="(f32[4,6], f32[4,6], u32[], u32[])"
            )
        ),
    ),
    "collective-broadcast": (
        (A,),
        lambda b, x: b.collective_broadcast(x, replica_groups="{{0,1}}"),
    ),
    "collective-reduce": ((A,), lambda b, x: b.collective_reduce(x, to_apply=add)),
    "replica-id": ((), lambda b: b.replica_id()),
    "partition-id": ((), lambda b: b.partition_id()),
    "infeed": (
        (),
        lambda b: b.infeed(b.after_all(), infeed_config="c", shape="((f32[4]), token[])"),
    ),
    "outfeed": ((A, TOKEN), lambda b, x, t: b.outfeed(x, t, outfeed_config="c")),
    "send": (
        (A,),
        lambda b, x: b.send_done(
            b.send(x, b.after_all(), channel_id=1, is_host_transfer=True),
            channel_id=1,
            is_host_transfer=True,
        ),
    ),
    "recv": (
        (),
        lambda b: b.recv_done(
            b.recv(b.after_all(), channel_id=2, shape="(f32[4], u32[], token[])"), channel_id=2
        ),
    ),
    "rng": ((F32, F32), lambda b, x, y: b.rng(x, y, distribution="rng_uniform", shape=F32[4])),
    "rng-bit-generator": (
        (U64[2],),
        lambda b, s: b.rng_bit_generator(s, algorithm="rng_philox", shape="(u64[2], u32[4])"),
    ),
    "rng-get-and-update-state": ((), lambda b: b.rng_get_and_update_state(delta=1, shape=U64[2])),
    "custom-call": (
        (A,),
        lambda b, x: b.custom_call(
            x, target="foo", shape=A, has_side_effect=True, backend_config="{a}"
        ),
    ),
    "convert": ((A,), lambda b, x: b.convert(x, "bf16")),
    "reduce-precision": ((A,), lambda b, x: b.reduce_precision(x, 5, 10)),
    "stochastic-convert": (
        (A, U32[4, 6]),
        lambda b, x, r: b.stochastic_convert(x, r, shape="s8[4,6]"),
    ),
    "compare": ((A,), lambda b, x: b.compare(x, 0, "GE")),
    "select": ((A,), lambda b, x: b.select(x > 0, x, 1)),
    "clamp": ((A,), lambda b, x: b.clamp(0, x, 1)),
    "complex": ((A, A), lambda b, x, y: b.complex(x, y)),
}
WITH_PARTNER = {
    "copy-done": "copy-start",
    "async-update": "async-start",
    "async-done": "async-start",
    "all-gather-done": "all-gather-start",
    "all-reduce-done": "all-reduce-start",
    "collective-permute-done": "collective-permute-start",
    "send-done": "send",
    "recv-done": "recv",
}
INTEGER = {
    "not",
    "popcnt",
    "count-leading-zeros",
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "mulhi",
}


def scalar_step(b: HloBuilder) -> Any:
    inner = b.nested("step")
    x, c = inner.parameter(F32), inner.parameter(F32)
    inner.computation.set_root(inner.tuple(x + c, x + c).instruction)
    return inner.computation


def program(name: str) -> tuple[tuple[Any, ...], Program]:
    if name in PROGRAMS:
        return PROGRAMS[name]
    row = OPCODES[name]
    assert row.arity is not None
    kind = S32 if name in INTEGER else C64 if name in ("real", "imag") else F32
    return (kind[4, 6],) * row.arity, lambda b, *values: getattr(b, method_name(name))(*values)


def module_with(name: str) -> HloModule:
    """Return a verified module with the opcode; a done comes with its start."""
    shapes, function = program(WITH_PARTNER.get(name, name))
    builder = HloBuilder("m", locations=False)
    return builder.build(function(builder, *[builder.parameter(shape) for shape in shapes]))
