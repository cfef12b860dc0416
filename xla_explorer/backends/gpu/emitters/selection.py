"""Which emitter writes the kernel of a fusion or a lone instruction, and why not a better one.

Asked in this order: the writer of an operation that no other serves (`operations/registry.py`), running reductions, tensor cores for a dot, thin
products, tiles of a dot, reduction (rows or columns), transposition through shared memory, copies by vectors, vectorised loop; else the
writer of the root's opcode, which makes one thread per element.
"""

from __future__ import annotations

from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.emitters.dots.matrix_operands import Matrices
from xla_explorer.backends.gpu.emitters.dots.partial_products import Parts, write_sum_of_parts
from xla_explorer.backends.gpu.emitters.dots.tensor_core_dot import plan_dot, write_dot_kernel
from xla_explorer.backends.gpu.emitters.dots.thin_dot import plan_thin_dot, write_thin_dot
from xla_explorer.backends.gpu.emitters.dots.tiled_dot import plan_tiled_dot, write_tiled_dot_kernel
from xla_explorer.backends.gpu.emitters.dots.warpgroup_dot import plan_warpgroup_dot, write_warpgroup_dot
from xla_explorer.backends.gpu.emitters.drafts import OperationDraft
from xla_explorer.backends.gpu.emitters.loops.transposition import plan_transpose, write_transpose_kernel
from xla_explorer.backends.gpu.emitters.loops.vector_copy import plan_vector_copy, write_vector_copy
from xla_explorer.backends.gpu.emitters.loops.vector_loop import plan_vector_loop, write_vector_loop
from xla_explorer.backends.gpu.emitters.operations.registry import OPERATIONS
from xla_explorer.backends.gpu.emitters.reductions.column_reduction import plan_columns, write_column_kernel, write_column_partials_kernel
from xla_explorer.backends.gpu.emitters.reductions.fused_reduction import FusedReduction, analyse_reduction
from xla_explorer.backends.gpu.emitters.reductions.row_reduction import plan_rows, scratch_arrays, write_partials_kernel, write_row_kernel
from xla_explorer.backends.gpu.emitters.reductions.scan import plan_scan, write_scan
from xla_explorer.backends.gpu.launch_dimensions import LaunchArchitecture, LaunchDimensions, launch_dimensions
from xla_explorer.backends.gpu.tensor_map import TensorMap
from xla_explorer.compiler.codegen.kernels import Kernel, KernelContext, load_kernel_writers, write_kernel
from xla_explorer.compiler.codegen.kernels.kernel import ROOT_WRITERS, kernel_slots
from xla_explorer.compiler.codegen.target import NVPTX, CodegenTarget
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction


class EmittedKernel(NamedTuple):
    """kernel: its last pointer is scratch memory when `scratch` is true. shared_bytes: static shared memory of a block;
    dynamic_shared_bytes: what its launch must ask for besides. tensor_maps: parameters after the pointers, one each.
    suffix: what its name has after the instruction's."""

    kernel: Kernel
    launch: LaunchDimensions
    shared_bytes: int = 0
    scratch: bool = False
    dynamic_shared_bytes: int = 0
    tensor_maps: tuple[TensorMap, ...] = ()
    suffix: str = ""


class EmittedKernels(NamedTuple):
    """kernels: to be launched one after the other. emitter: its name. scratch_bytes: of memory that they share.

    refused: (emitter, why) of those that were asked before. estimated_us, library_us: device time of these kernels and of
    the library's, where the emitter has an estimate.
    """

    kernels: tuple[EmittedKernel, ...]
    emitter: str
    scratch_bytes: int = 0
    refused: tuple[tuple[str, Reason], ...] = ()
    estimated_us: float | None = None
    library_us: float = 0.0


def write_gpu_kernels(
    i: HloInstruction, architecture: LaunchArchitecture, slots: tuple[int, ...] | None = None, target: CodegenTarget = NVPTX
) -> EmittedKernels:
    """The kernels of a fusion or a lone instruction that `kernel_is_emitted` takes. slots: see `Kernel.slots`.

    GPUs that are not NVIDIA's get one thread per element: the emitters here are written in NVIDIA's intrinsics.
    """
    load_kernel_writers()
    slots = slots if slots is not None else kernel_slots(i)
    refused: list[tuple[str, Reason]] = []
    writers = _WRITERS if isinstance(architecture, GpuArchitecture) else ()
    for name, write in writers:
        assert isinstance(architecture, GpuArchitecture)
        made = write(i, architecture, slots)
        if not isinstance(made, Reason):
            return made._replace(refused=tuple(refused))
        if made.code not in _NOT_OF_THIS_KIND:
            refused.append((name, made))
    kernel = write_kernel(i, target, slots)
    launch = launch_dimensions(kernel.threads, architecture)
    return EmittedKernels((EmittedKernel(kernel, launch),), "loop", 0, tuple(refused))


_NOT_OF_THIS_KIND = frozenset({"no-operation", "no-copy", "no-scan", "no-dot", "no-reduction", "not-transposed", "root-has-a-writer"})


def _context(i: HloInstruction, slots: tuple[int, ...]) -> KernelContext:
    context = KernelContext(NVPTX, i, slots)
    context.writer.origin = context.roots[0].id
    return context


def _finished(
    context: KernelContext, slots: tuple[int, ...], launch: LaunchDimensions, shared: int = 0, scratch: bool = False
) -> EmittedKernel:
    kernel = context.finish(slots)
    return EmittedKernel(kernel._replace(threads=launch.threads, parameters=kernel.parameters + scratch), launch, shared, scratch)


def _operation(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    operation = OPERATIONS.get(i.opcode.name)
    if operation is None:
        return refuse("no-operation", f"%{i.name}: {i.opcode.name} has no kernels of its own")
    draft = operation.write(i, architecture, slots)
    return draft if isinstance(draft, Reason) else _drafted(draft, slots)


def _drafted(draft: OperationDraft, slots: tuple[int, ...]) -> EmittedKernels:
    scratch = draft.scratch_bytes > 0
    kernels = [_finished(k.context, slots, k.launch, k.shared_bytes, scratch)._replace(suffix=k.suffix) for k in draft.kernels]
    return EmittedKernels(tuple(kernels), draft.emitter, draft.scratch_bytes)


def _scan(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    roots = _context(i, slots).roots
    plan = plan_scan(roots[0], architecture) if len(roots) == 1 else refuse("no-scan", f"%{i.name} has several results")
    return plan if isinstance(plan, Reason) else _drafted(write_scan(i, plan, slots), slots)


def _analysis(i: HloInstruction, slots: tuple[int, ...]) -> FusedReduction | Reason:
    return analyse_reduction(_context(i, slots))


def _reduction(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    analysis = _analysis(i, slots)
    if isinstance(analysis, Reason):
        return analysis
    context = analysis.context
    scratch = f"%a{max(slots) + 1}"
    simple = all(reducer.neutral() is not None for reducer in analysis.reducers.values())
    splittable = simple and not analysis.whole and len(analysis.phases) == 1
    if analysis.is_reduced[-1]:
        rows = plan_rows(analysis.rows, analysis.length, analysis.vector_width(8), architecture, splittable)
        shared = write_row_kernel(analysis, rows, scratch)
        first = _finished(context, slots, rows.launch, shared, rows.splits > 1)
        if rows.splits == 1:
            return EmittedKernels((first,), "row-reduction")
        second = _analysis(i, slots)
        assert not isinstance(second, Reason)
        launch, shared = write_partials_kernel(second, rows.splits, scratch, architecture)
        last = _finished(second.context, slots, launch, shared, True)._replace(suffix="_combine")
        return EmittedKernels((first, last), "row-reduction", scratch_arrays(second, rows.splits, "")[1])
    if len(analysis.phases) > 1 or analysis.late:
        return refuse("columns-after-one-another", f"%{i.name}: values that depend on a reduced column are not kept for a second pass")
    outer = analysis.rows // analysis.extents[-1]
    columns = plan_columns(outer, analysis.length, analysis.extents[-1], analysis.vector_width(4), architecture, splittable)
    shared = write_column_kernel(analysis, columns, scratch)
    first = _finished(context, slots, columns.launch, shared, columns.splits > 1)
    if columns.splits == 1:
        return EmittedKernels((first,), "column-reduction")
    second = _analysis(i, slots)
    assert not isinstance(second, Reason)
    launch, shared = write_column_partials_kernel(second, columns.splits, outer, scratch, architecture)
    last = _finished(second.context, slots, launch, shared, True)._replace(suffix="_combine")
    return EmittedKernels((first, last), "column-reduction", scratch_arrays(second, columns.splits, "")[1])


def _transpose(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    context = _context(i, slots)
    if _has_own_writer(context):
        return refuse("root-has-a-writer", f"%{i.name}: {context.roots[0].opcode.name} is written by its own writer")
    plan = plan_transpose(context)
    if isinstance(plan, Reason):
        return plan
    shared = write_transpose_kernel(context, plan)
    return EmittedKernels((_finished(context, slots, plan.launch, shared),), "transpose")


def _dot(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    plan = plan_dot(i, architecture)
    if isinstance(plan, Reason):
        return plan
    scratch = f"%a{max(slots) + 1}"
    context = _context(i, slots)
    shared = write_dot_kernel(context, plan, scratch)
    first = _finished(context, slots, plan.launch, shared, plan.parts.number > 1)
    kernels = _with_sum_of_parts(i, architecture, slots, first, plan.matrices, plan.parts)
    scratch_bytes = plan.parts.scratch_bytes(plan.matrices)
    return EmittedKernels(kernels, "tensor-core-dot", scratch_bytes, (), plan.estimated_us, plan.library_us)


def _with_sum_of_parts(
    i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...], first: EmittedKernel, matrices: Matrices, parts: Parts
) -> tuple[EmittedKernel, ...]:
    """A product's kernel, and the one that adds its partial sums where it leaves some."""
    if parts.number == 1:
        return (first,)
    context = _context(i, slots)
    launch = write_sum_of_parts(context, matrices, parts, f"%a{max(slots) + 1}", architecture)
    return first, _finished(context, slots, launch, scratch=True)


def _warpgroup_dot(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    plan = plan_warpgroup_dot(i, architecture)
    if isinstance(plan, Reason):
        return plan
    warps = plan_dot(i, architecture)
    if not isinstance(warps, Reason) and warps.estimated_us < plan.estimated_us:
        ours, theirs = plan.estimated_us, warps.estimated_us
        text = f"%{i.name}: estimated at {ours:.3g} us, by warps at {theirs:.3g} us"
        return refuse("warps-are-faster", text, us=ours, by_warps_us=theirs)
    context = _context(i, slots)
    maps = write_warpgroup_dot(context, plan, slots, f"%a{max(slots) + 1}")
    first = _finished(context, slots, plan.launch, scratch=plan.parts.number > 1)
    first = first._replace(dynamic_shared_bytes=plan.shared_bytes, tensor_maps=maps)
    kernels = _with_sum_of_parts(i, architecture, slots, first, plan.matrices, plan.parts)
    scratch_bytes = plan.parts.scratch_bytes(plan.matrices)
    return EmittedKernels(kernels, "warpgroup-dot", scratch_bytes, (), plan.estimated_us, plan.library_us)


def _tiled_dot(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    plan = plan_tiled_dot(i, architecture)
    if isinstance(plan, Reason):
        return plan
    context = _context(i, slots)
    shared = write_tiled_dot_kernel(context, plan)
    return EmittedKernels((_finished(context, slots, plan.launch, shared),), "tiled-dot", 0, (), plan.estimated_us, plan.library_us)


def _thin_dot(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    plan = plan_thin_dot(i, architecture)
    return plan if isinstance(plan, Reason) else _drafted(write_thin_dot(i, plan, architecture, slots), slots)


def _has_own_writer(context: KernelContext) -> bool:
    return len(context.roots) == 1 and context.roots[0].opcode.name in ROOT_WRITERS


def _vector_copy(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    context = _context(i, slots)
    plan = plan_vector_copy(context, architecture)
    if isinstance(plan, Reason):
        return plan
    launch = write_vector_copy(context, *plan, architecture)
    return EmittedKernels((_finished(context, slots, launch),), "vector-copy")


def _vector_loop(i: HloInstruction, architecture: GpuArchitecture, slots: tuple[int, ...]) -> EmittedKernels | Reason:
    context = _context(i, slots)
    if _has_own_writer(context):
        return refuse("root-has-a-writer", f"%{i.name}: {context.roots[0].opcode.name} is written by its own writer")
    plan = plan_vector_loop(context, architecture)
    if isinstance(plan, Reason):
        return plan
    width, launch = plan
    write_vector_loop(context, width, launch)
    return EmittedKernels((_finished(context, slots, launch),), "vector-loop")


_WRITERS = (
    ("warpgroup-dot", _warpgroup_dot),
    ("operation", _operation),
    ("scan", _scan),
    ("tensor-core-dot", _dot),
    ("thin-dot", _thin_dot),
    ("tiled-dot", _tiled_dot),
    ("reduction", _reduction),
    ("transpose", _transpose),
    ("vector-copy", _vector_copy),
    ("vector-loop", _vector_loop),
)
