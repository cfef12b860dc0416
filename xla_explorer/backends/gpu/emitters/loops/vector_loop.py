"""Elementwise kernels: each thread computes a few neighbouring elements, so that memory is read and written 16 bytes at a time.

LLVM joins the loads and stores (its load-store vectoriser) where the address's alignment is plain to see, and reads what nobody
writes through the read-only cache. Source: xla/service/gpu/ir_emission_utils and loop fusion's unrolling; the numbers are ours.
"""

from __future__ import annotations

import math

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.block import Block
from xla_explorer.backends.gpu.emitters.drafts import KernelDraft, OperationDraft, fresh_context, why_own_writer
from xla_explorer.backends.gpu.launch_dimensions import SMALL_BLOCK, LaunchDimensions, launch_dimensions
from xla_explorer.compiler.codegen.elemental.emitter import ElementalEmitter
from xla_explorer.compiler.codegen.elemental.registry import ELEMENTWISE_EMITTERS
from xla_explorer.compiler.codegen.kernels.collapse import CollapsedEmitter, dimension_maps, extents_of, group_dimensions
from xla_explorer.compiler.codegen.kernels.kernel import KernelContext
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

LARGEST = 8
MOST_WORK = 1024  # operations that one thread may have: code stays within the instruction cache
_SHORT = frozenset({"exponential", "logistic", "divide", "rsqrt", "sqrt"})  # by the special function unit
_LONG = frozenset({"log", "tanh", "power", "sine", "cosine", "tan", "erf", "atan2", "remainder", "cbrt", "exponential-minus-one",
                   "log-plus-one"})  # fmt: skip


def _work(context: KernelContext) -> int:
    """About how many machine instructions an element takes."""
    i = context.instruction
    body = list(i.called[0].instructions.values()) if i.opcode.name == "fusion" else [i]
    names = [inner.opcode.name for inner in body]
    return sum([24 if name in _LONG else 8 if name in _SHORT else 1 if name in ELEMENTWISE_EMITTERS else 2 for name in names])


def plan_vector_loop(context: KernelContext, architecture: GpuArchitecture) -> tuple[int, LaunchDimensions] | Reason:
    """Elements a thread and dimensions, or why one element each."""
    name = context.instruction.name
    shapes = {root.shape.dimensions for root in context.roots}
    if len(shapes) != 1 or any(not o.shape.layout.is_default and o.shape.rank > 1 for o in context.outputs):
        return refuse("results-of-different-shapes", f"%{name} has results of different dimensions or layouts")
    (dimensions,) = shapes
    count = math.prod(dimensions)
    if not count or not dimensions:
        return refuse("nothing-to-vectorise", f"%{name} has {count} elements")
    types = [o.shape.element_type for o in context.outputs] + [a.shape.element_type for a in context.arrays.values() if a.shape.rank]
    widest = max([t.bytes for t in types])
    width = min(16 // widest if widest <= 16 else 1, LARGEST)
    work = _work(context)
    why = f"{16 // widest if widest < 16 else 1} elements of the widest type ({widest} bytes) are 16 bytes"
    while width > 1 and width * work > MOST_WORK:
        width //= 2
        why = f"an element is about {work} instructions, so only {width} elements a thread"
    minor = _minor_extent(context, dimensions)
    while minor % width:
        width //= 2
        why = f"the minor extent {minor} is not a multiple of {2 * width}"
    least = architecture.multiprocessors * SMALL_BLOCK
    while width > 1 and count // width < least:
        width //= 2
        why = f"more would leave some of {architecture.multiprocessors} multiprocessors without a block"
    if width < 2:
        return refuse("one-element-a-thread", f"%{name}: {why}", elements=count, widest=widest, minor=minor, instructions=work)
    launch = launch_dimensions(count // width, architecture)
    return width, launch._replace(reasoning=f"{width} elements a thread ({why}); {launch.reasoning}")


def _minor_extent(context: KernelContext, dimensions: tuple[int, ...]) -> int:
    maps = dimension_maps(context.roots, context.arrays)
    return extents_of(group_dimensions(dimensions, maps), dimensions)[-1] if maps is not None else dimensions[-1]


def write_vector_loop(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> OperationDraft | Reason:
    """The kernel, or why one element each."""
    context = fresh_context(i, slots)
    plan = why_own_writer(context) or plan_vector_loop(context, architecture)
    if isinstance(plan, Reason):
        return plan
    _write(context, *plan)
    return OperationDraft((KernelDraft(context, plan[1]),), "vector-loop")


def _write(context: KernelContext, width: int, launch: LaunchDimensions) -> None:
    """Write the kernel."""
    w = context.writer
    block = Block(context, launch.threads_per_block)
    dimensions = context.roots[0].shape.dimensions
    maps = dimension_maps(context.roots, context.arrays)
    emitter: ElementalEmitter
    if maps is not None:
        groups = group_dimensions(dimensions, maps)
        emitter = CollapsedEmitter(w, context.arrays, maps, groups)
    else:
        groups = [[d] for d in range(len(dimensions))]
        emitter = context.emitter()
    extents = extents_of(groups, dimensions)
    strides = [context.roots[0].shape.base.strides[group[-1]] for group in groups]
    number = w.add(w.mul(block.number, launch.threads_per_block), block.thread)
    inside = None
    if launch.blocks * launch.threads_per_block != launch.threads:
        inside = w.value(f"icmp ult i64 {number}, {launch.threads}")
    with block.only_if(inside), emitter.scope():
        index: list[str | int] = []
        rest = math.prod(extents) // width
        for position, extent in enumerate(extents):
            steps = extent // width if position == len(extents) - 1 else extent
            rest //= steps
            quotient = w.div(number, rest)
            index.append(quotient if position == 0 else w.mod(quotient, steps))
        index[-1] = w.mul(index[-1], width)
        places = [(*index[:-1], w.add(index[-1], j)) for j in range(width)]
        values = [[emitter.element(root, place) for place in places] for root in context.roots]
        for row, output in zip(values, context.outputs, strict=True):
            for place, value in zip(places, row, strict=True):
                output.store_linear(w, w.linear(place, strides), value)
