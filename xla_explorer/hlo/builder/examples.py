"""One example line for each opcode method with a non-obvious signature, shown in its help.

A test runs each line. b is the builder; x and y are f32[4,6] and f32[6,2], i an s32 scalar, rows
s32[5,1], picked f32[5,6], image f32[1,8,8,3], kernel f32[3,3,3,5], square f32[3,3], state u64[2].
"""

from __future__ import annotations

_ROWS = "collapsed_slice_dims=0, start_index_map=0, index_vector_dim=1, slice_sizes=(1, 6)"
EXAMPLES: dict[str, str] = {
    "concatenate": "b.concatenate([x, x], dimensions=0)",
    "pad": "b.pad(x, 0, padding=((1, 1, 0), (0, 2, 1)))",
    "slice": "b.slice(x, slice=((0, 2, 1), (1, 6, 2)))",
    "dynamic-slice": "b.dynamic_slice(x, [i, 0], sizes=(1, 6))",
    "dynamic-update-slice": "b.dynamic_update_slice(x, x[0:1], i, 0)",
    "transpose": "b.transpose(x, dimensions=(1, 0))",
    "reverse": "b.reverse(x, dimensions=0)",
    "gather": f"b.gather(x, rows, offset_dims=1, {_ROWS})",
    "scatter": "b.scatter(x, rows, picked, update_window_dims=1, inserted_window_dims=0, "
    "scatter_dims_to_operand_dims=0, "
    "index_vector_dim=1, to_apply=lambda old, new: old + new)",
    "dot": "b.dot(x, y, lhs_contracting_dims=1, rhs_contracting_dims=0)",
    "convolution": (
        'b.convolution(image, kernel, window={"size": (3, 3), "pad": ((1, 1), (1, 1))}, '
        'dim_labels="b01f_01io->b01f")'
    ),
    "fft": 'b.fft(x, fft_type="RFFT", fft_length=6)',
    "cholesky": "b.cholesky(square, lower=True)",
    "triangular-solve": "b.triangular_solve(square, square, left_side=True, lower=True)",
    "reduce": "b.reduce(x, 0, dimensions=1, to_apply=lambda p, q: p + q)",
    "reduce-window": (
        'b.reduce_window(x, b.constant(0.0), window={"size": (2, 2), "stride": 2}, '
        "to_apply=lambda p, q: p + q)"
    ),
    "select-and-scatter": "b.select_and_scatter(x, b.slice(x, slice=((0, 2, 1), (0, 3, 1))), "
    'b.constant(0.0), window={"size": (2, 2), '
    '"stride": 2}, select=lambda p, q: p >= q, scatter=lambda p, q: p + q)',
    "map": "b.map(x, x, dimensions=(0, 1), to_apply=lambda p, q: p * q + 1)",
    "sort": "b.sort(x, dimensions=1, to_apply=lambda p, q: p < q, is_stable=True)",
    "topk": "b.topk(x, k=2)",
    "while": "b.while_(i, condition=lambda k: k < 9, body=lambda k: k + 1)",
    "conditional": "b.conditional(i, x, x, branch_computations=(lambda v: v, lambda v: -v))",
    "call": "b.call(x, to_apply=lambda v: v * 2)",
    "fusion": 'b.fusion(x, kind="kLoop", calls=lambda v: v * 2)',
    "all-reduce": "b.all_reduce(x, to_apply=lambda p, q: p + q, replica_groups=((0, 1),))",
    "all-gather": 'b.all_gather(x, dimensions=0, replica_groups=((0, 1),), shape="f32[8,6]")',
    "reduce-scatter": (
        "b.reduce_scatter(x, dimensions=0, replica_groups=((0, 1),), to_apply=lambda p, q: p + "
        'q, shape="f32[2,6]")'
    ),
    "all-to-all": "b.all_to_all(x, dimensions=0, replica_groups=((0, 1),))",
    "collective-permute": "b.collective_permute(x, source_target_pairs=((0, 1), (1, 0)))",
    "custom-call": 'b.custom_call(x, target="my_target", shape="f32[4,6]")',
    "rng-bit-generator": 'b.rng_bit_generator(state, algorithm="rng_philox", shape="(u64[2], u32[4])")',
    "rng": 'b.rng(0.0, 1.0, distribution="rng_uniform", shape="f32[4]")',
}
