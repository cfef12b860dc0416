"""Convolutions by plain loops, where neither tiles nor a loop nest serve them: any dimension labels, groups, dilations."""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_through
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import Accumulators
from xla_explorer.compiler.codegen.kernels.guards import Guard, base_position
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.matrix_convolution import plan_convolution, write_planned_convolution
from xla_explorer.compiler.codegen.llvm_types import scalar_constant
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps


def write_convolution_kernel(context: KernelContext) -> None:
    """Any dimension labels, groups, dilations: a result at a time, on a GPU by a thread."""
    root, output, w = context.roots[0], context.outputs[0], context.writer
    if 0 in root.shape.dimensions:
        return
    labels, rules = root.attribute("dim_labels"), root.attribute("window").dimensions
    lhs, rhs = root.operands
    plan = plan_convolution(root, context.target)
    if not isinstance(plan, Reason):
        write_planned_convolution(context, root, plan)
        return
    features, batches = root.attribute("feature_group_count"), root.attribute("batch_group_count")
    out_dims = root.shape.dimensions
    out_features = out_dims[labels.output_feature]
    per_group = out_features // max(features, batches)
    depth = rhs.shape.dimensions[labels.kernel_input_feature]
    out_batch = out_dims[labels.output_batch]
    wide, left_steps, right_steps, steps = accumulation_type(root), operand_steps(root, 0), operand_steps(root, 1), sum_steps(root)
    emitter: ElementalEmitter = context.emitter()
    possible = [] if depth else ["false"]  # loops run at least once: with no input feature there is nothing to add

    def term(
        batch: str | int, group: str | int, base: list[str | int], window: list[str | int], inner: str | int, feature: str | int
    ) -> Scalar:
        left: list[str | int] = [0] * lhs.shape.rank
        right: list[str | int] = [0] * rhs.shape.rank
        left[labels.input_batch] = w.add(w.mul(group, out_batch), batch) if batches > 1 else batch
        left[labels.input_feature] = w.add(w.mul(group, depth), inner) if features > 1 else inner
        for d, x in zip(labels.input_spatial, base, strict=True):
            left[d] = x
        for d, x in zip(labels.kernel_spatial, window, strict=True):
            right[d] = x
        right[labels.kernel_input_feature], right[labels.kernel_output_feature] = inner, feature
        a = convert_through(w, emitter.element(lhs, tuple(left)), left_steps)
        b = convert_through(w, emitter.element(rhs, tuple(right)), right_steps)
        return binary_value(w, "multiply", wide, a, b)

    with context.iterate(list(out_dims)) as index, emitter.scope():
        feature = index[labels.output_feature]
        slot = Accumulators(context, [wide])
        slot.store([scalar_constant(0, wide)])
        with ExitStack() as inner_loops:
            window = [inner_loops.enter_context(w.loop(rule.size, stem="window")) for rule in rules]
            conditions = list(possible)
            base = [
                base_position(w, rule, index[o], k, lhs.shape.dimensions[d], conditions)
                for rule, o, k, d in zip(rules, labels.output_spatial, window, labels.input_spatial, strict=True)
            ]
            with Guard(w, conditions), emitter.scope(), w.loop(depth, stem="depth") as k, emitter.scope():
                by = term(index[labels.output_batch], w.div(feature, per_group), base, window, k, feature)
                with w.fast_math("reassoc contract"):
                    slot.store([binary_value(w, "add", wide, slot.load()[0], by)])
        output.store(w, index, convert_through(w, slot.load()[0], steps))
