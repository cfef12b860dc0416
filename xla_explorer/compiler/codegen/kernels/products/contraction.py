"""dot where it is not made from a loop nest: groups of small integers, else a loop for each element (GPU threads).

16-bit floats accumulate in f32, as XLA does.
"""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_through
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.dot_epilogue import epilogue_dot
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import dot_free_dimensions
from xla_explorer.compiler.codegen.kernels.products.grouped_products import GroupedPlan, plan_grouped_product, write_grouped_product
from xla_explorer.compiler.codegen.llvm_types import scalar_constant
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps
from xla_explorer.hlo.primitive_type import S32, U32


def write_dot_kernel(context: KernelContext) -> None:
    """Any dimension numbers, any types; with an epilogue in a fusion of kind kOutput."""
    dot, output, w = epilogue_dot(context.instruction) or context.roots[0], context.outputs[0], context.writer
    if 0 in dot.shape.dimensions:
        return
    lhs, rhs = dot.operands
    wide, left_steps, right_steps = accumulation_type(dot), operand_steps(dot, 0), operand_steps(dot, 1)
    if lhs in context.arrays and rhs in context.arrays:
        grouped = plan_grouped_product(dot, context.target)
        if isinstance(grouped, GroupedPlan) and dot.shape.element_type in (S32, U32) and dot is context.roots[0]:
            write_grouped_product(context, dot, grouped)
            return
    left_free, right_free = dot_free_dimensions(dot)
    left_batch, right_batch = dot.attribute("lhs_batch_dims"), dot.attribute("rhs_batch_dims")
    left_contract, right_contract = dot.attribute("lhs_contracting_dims"), dot.attribute("rhs_contracting_dims")
    depths = [lhs.shape.dimensions[d] for d in left_contract]
    emitter = context.emitter()
    batches, rows = len(left_batch), len(left_free)

    def positions(index: list[str | int], contracted: list[str | int]) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
        left: list[str | int] = [0] * lhs.shape.rank
        right: list[str | int] = [0] * rhs.shape.rank
        for k, (a, b) in enumerate(zip(left_batch, right_batch, strict=True)):
            left[a] = right[b] = index[k]
        for k, a in enumerate(left_free):
            left[a] = index[batches + k]
        for k, b in enumerate(right_free):
            right[b] = index[batches + rows + k]
        for x, a, b in zip(contracted, left_contract, right_contract, strict=True):
            left[a], right[b] = x, x
        return tuple(left), tuple(right)

    def product(index: list[str | int], contracted: list[str | int]) -> Scalar:
        a, b = positions(index, contracted)
        x = convert_through(w, emitter.element(lhs, a), left_steps)
        y = convert_through(w, emitter.element(rhs, b), right_steps)
        return binary_value(w, "multiply", wide, x, y)

    def accumulate(value: Scalar, index: list[str | int], contracted: list[str | int]) -> Scalar:
        term = product(index, contracted)
        with w.fast_math("reassoc contract"):
            return binary_value(w, "add", wide, value, term)

    def store(value: Scalar, index: tuple[str | int, ...]) -> None:
        value = convert_through(w, value, sum_steps(dot))
        if dot is not context.roots[0]:
            after = context.emitter()
            after.sources[dot] = lambda _: value
            value = after.element(context.roots[0], index)
        output.store(w, index, value)

    zero = scalar_constant(0, wide)
    with context.iterate(list(dot.shape.dimensions)) as index, emitter.scope():
        slots = Accumulators(context, [wide])
        slots.store([zero])
        if 0 not in depths:
            with ExitStack() as loops:
                contracted = [loops.enter_context(w.loop(n, stem="contract")) for n in depths]
                with emitter.scope():
                    slots.store([accumulate(slots.load()[0], list(index), contracted)])
        store(slots.load()[0], index)
