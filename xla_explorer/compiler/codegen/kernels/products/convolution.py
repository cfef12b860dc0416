"""Convolutions by plain loops, where no plan by tiles serves them: any dimension labels, groups, dilations."""

from __future__ import annotations

from contextlib import ExitStack

from xla_explorer.compiler.codegen.elemental.arithmetic import binary_value
from xla_explorer.compiler.codegen.elemental.conversion import convert_through
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.kernels.accumulators import ROW_TILE, Accumulators
from xla_explorer.compiler.codegen.kernels.guards import Guard, base_position
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.compiler.codegen.kernels.products.matrix_convolution import plan_convolution, write_planned_convolution
from xla_explorer.compiler.codegen.llvm_types import scalar_constant
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.product_types import accumulation_type, operand_steps, sum_steps


def write_convolution_kernel(context: KernelContext) -> None:
    """Any dimension labels, groups, dilations: a row of accumulators over the output features when those are contiguous."""
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
    spatial = [out_dims[d] for d in labels.output_spatial]
    groups = max(features, batches)
    zero = scalar_constant(0, wide)
    depthwise = features > 1 and per_group == 1 and depth == 1
    possible = [] if depth else ["false"]  # loops run at least once: with no input feature there is nothing to add

    def place(batch: str | int, where: list[str | int], feature: str | int) -> tuple[str | int, ...]:
        index: list[str | int] = [0] * root.shape.rank
        index[labels.output_batch], index[labels.output_feature] = batch, feature
        for d, x in zip(labels.output_spatial, where, strict=True):
            index[d] = x
        return tuple(index)

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

    def add(value: Scalar, by: Scalar) -> Scalar:
        with w.fast_math("reassoc contract"):
            return binary_value(w, "add", wide, value, by)

    if context.target.is_launched:
        with context.iterate(list(out_dims)) as index, emitter.scope():
            feature = index[labels.output_feature]
            slot = Accumulators(context, [wide])
            slot.store([zero])
            with ExitStack() as inner_loops:
                window = [inner_loops.enter_context(w.loop(rule.size, stem="window")) for rule in rules]
                conditions = list(possible)
                base = [
                    base_position(w, rule, index[o], k, lhs.shape.dimensions[d], conditions)
                    for rule, o, k, d in zip(rules, labels.output_spatial, window, labels.input_spatial, strict=True)
                ]
                with Guard(w, conditions), emitter.scope(), w.loop(depth, stem="depth") as k, emitter.scope():
                    by = term(index[labels.output_batch], w.div(feature, per_group), base, window, k, feature)
                    slot.store([add(slot.load()[0], by)])
            output.store(w, index, convert_through(w, slot.load()[0], steps))
        return

    size = out_features if depthwise else per_group
    tile = min(size, ROW_TILE)
    slots = Accumulators(context, [wide], tile)
    with ExitStack() as loops:
        batch, *where = loops.enter_context(context.iterate([out_batch, *spatial]))
        group = 0 if depthwise else loops.enter_context(w.loop(groups, stem="group"))
        start = loops.enter_context(w.loop(size, 0, tile, stem="tile"))
        loops.enter_context(emitter.scope())
        length: str | int = tile
        if size % tile:
            length = w.call_intrinsic("llvm.smin.i64", "i64", ("i64", str(tile)), ("i64", str(w.sub(size, start))))
        with w.loop(length, stem="clear") as j:
            slots.store([zero], j)
        with ExitStack() as inner_loops:
            window = [inner_loops.enter_context(w.loop(rule.size, stem="window")) for rule in rules]
            conditions = list(possible)
            base = [
                base_position(w, rule, x, k, lhs.shape.dimensions[d], conditions)
                for rule, x, k, d in zip(rules, where, window, labels.input_spatial, strict=True)
            ]
            with (
                Guard(w, conditions),
                emitter.scope(),
                w.loop(depth, stem="depth") as k,
                emitter.scope(),
                w.loop(length, stem="feature") as j,
                emitter.scope(),
            ):
                feature = w.add(w.add(w.mul(group, per_group), start), j)
                by = term(batch, feature if depthwise else group, base, window, k, feature)
                slots.store([add(slots.load(j)[0], by)], j)
        with w.loop(length, stem="write") as j, emitter.scope():
            feature = w.add(w.add(w.mul(group, per_group), start), j)
            output.store(w, place(batch, list(where), feature), convert_through(w, slots.load(j)[0], steps))
