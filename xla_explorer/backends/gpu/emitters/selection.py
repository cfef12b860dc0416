"""Dispatch of a fusion or single instruction to an emitter, with the refusals of the others.

The emitters of `_WRITERS` are tried in order, the most special first, and the first result is
taken. An emitter checks its opcode (`product_in` finds the dot or convolution of a fusion), shapes
and types, and compares its estimate with the alternative. A refusal is a Reason, shown by
`session.decisions("launch")`; refusals of loop nests (`nests/`), which come before the emitters of
their families, are shown by `session.decisions("loop-nest")`. If all refuse, and on GPUs other than
NVIDIA's, the plain nest gives one thread per element, else the writer of the root's opcode
(`compiler/codegen/kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.device_math import DeviceMathStep, KernelMath, UsedFunctions
from xla_explorer.backends.gpu.emitters.kernel_descriptors import (
    GpuKernel,
    OperationDescriptor,
)
from xla_explorer.backends.gpu.emitters.nests.dispatch import (
    nest_by_user,
    write_nest,
    write_plain_nest,
    write_reducing_nest,
    write_scan_nest,
    write_transposing_nest,
)
from xla_explorer.backends.gpu.emitters.operations.registry import write_operation
from xla_explorer.backends.gpu.emitters.products import ProductPlans
from xla_explorer.compiler.codegen.dispatch import kernel_is_emitted, opaque_kernel
from xla_explorer.compiler.codegen.kernels.kernel import argument_slots
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.launch_dimensions import (
    LaunchArchitecture,
    launch_dimensions,
)
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import NVPTX, Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction

Writer = Callable[[HloInstruction, GpuArchitecture, tuple[int, ...]], OperationDescriptor | Reason]
_WRITERS: tuple[
    tuple[str, Writer], ...
] = (  # opcodes with kernels of their own; then any fusion, by its shape
    ("operation", write_operation),
    ("scan", write_scan_nest),
    ("reduction", write_reducing_nest),
    ("transpose", write_transposing_nest),
    ("loop-nest", write_nest),
)
# Refusals because the instruction is of another kind, which are not reported.
_NOT_OF_THIS_KIND = frozenset(
    {"no-operation", "no-scan", "no-dot", "no-reduction", "not-transposed", "not-depthwise"}
)


class Overrides(NamedTuple):
    """The user's overrides of a kernel.

    math: levels of its functions. forced: emitters one of which must write it. forbidden: emitters
    that must not; "" means all.
    """

    math: KernelMath = KernelMath()
    forced: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()

    def why_not(self, i: HloInstruction, *names: str) -> Reason | None:
        """Return the refusal of an emitter, given by its names, or None."""
        if self.forbidden & {"", *names}:
            return refuse(
                "forbidden-by-user",
                f"an override forbids that {names[-1]} writes %{i.name}",
                emitter=names[-1],
            )
        if self.forced and not self.forced & set(names):
            wanted = " or ".join(sorted(self.forced))
            return refuse(
                "another-emitter-forced",
                f"an override forces {wanted} to write %{i.name}",
                emitter=names[-1],
            )
        return None


NO_OVERRIDES = Overrides()


class EmittedKernels(NamedTuple):
    """The kernels of an instruction.

    kernels: in launch order. emitter: its name. scratch_bytes: shared by the kernels. refused:
    (emitter, reason) of emitters tried before. estimated_us: device time, if the emitter has an
    estimate. nest: the loop nest of the kernels, or the reason against one; None: not tried. math:
    the used functions with their levels. forced: the user named the emitter.
    """

    kernels: tuple[GpuKernel, ...]
    emitter: str
    scratch_bytes: int = 0
    refused: tuple[tuple[str, Reason], ...] = ()
    estimated_us: float | None = None
    nest: Schedule | Reason | None = None
    math: UsedFunctions = ()
    forced: bool = False


def write_gpu_kernels(
    i: HloInstruction, architecture: LaunchArchitecture, slots: tuple[int, ...] | None = None, target: Target = NVPTX,
    directives: Sequence[Directive] | None = None, overrides: Overrides = NO_OVERRIDES,
) -> EmittedKernels:  # fmt: skip
    """Return the kernels of a fusion or single instruction supported by `kernel_is_emitted`.

    slots: see `Kernel.slots`. directives: the user's schedule of the plain nest, instead of the
    choice of emitters and policies; ScheduleError if one is refused. GPUs other than NVIDIA's get
    the plain nest, because the emitters use NVIDIA's intrinsics.
    """
    slots = slots if slots is not None else argument_slots(i)
    if directives is not None:
        return finished(nest_by_user(i, directives, slots), slots, (), overrides.math)
    refused: list[tuple[str, Reason]] = []
    why_no_nest: Reason | None = None
    if isinstance(architecture, GpuArchitecture):
        for name, write in (*_product_writers(target, architecture), *_WRITERS):
            descriptor = write(i, architecture, slots)
            if not isinstance(descriptor, Reason):
                reason = overrides.why_not(i, name, descriptor.emitter)
                if reason is None:
                    made = finished(descriptor, slots, tuple(refused), overrides.math)._replace(
                        forced=bool(overrides.forced)
                    )
                    return made if made.nest is not None else made._replace(nest=why_no_nest)
                refused.append((descriptor.emitter, reason))
                continue
            if descriptor.code in _NOT_OF_THIS_KIND:
                continue
            if name in ("reduction", "transpose", "loop-nest"):
                why_no_nest = why_no_nest or descriptor
            if name != "loop-nest":
                refused.append((name, descriptor))
    if overrides.forced - {"loop"} or (
        overrides.forced | overrides.forbidden and kernel_is_emitted(i, target.kind) is not None
    ):
        # No permitted emitter supports it: the override is ignored, and the refusals explain why.
        made = write_gpu_kernels(i, architecture, slots, target, None, Overrides(overrides.math))
        return made._replace(refused=tuple([row for row in refused if row[0] != made.emitter]))
    forced, is_known = "loop" in overrides.forced, isinstance(architecture, GpuArchitecture)
    plain = write_plain_nest(i, architecture, slots, target)
    if not isinstance(plain, Reason):
        return finished(
            plain, slots, tuple(refused), overrides.math if is_known else None
        )._replace(forced=forced)
    context = opaque_kernel(i, target, slots)
    steps = [DeviceMathStep(overrides.math)] if is_known else []
    kernel = context.finish(slots, steps)
    launch = launch_dimensions(kernel.threads, architecture)
    one = GpuKernel(kernel, launch)
    used = steps[0].used if steps else ()
    return EmittedKernels((one,), "loop", 0, tuple(refused), None, why_no_nest, used, forced)


def _product_writers(target: Target, architecture: GpuArchitecture) -> list[tuple[str, Writer]]:
    """Return the writers of products, with the plans of the compilation if the target has them."""
    plans = target.abilities.products
    if not isinstance(plans, ProductPlans):
        plans = ProductPlans(architecture)
    return plans.writers()


def finished(
    descriptor: OperationDescriptor,
    slots: tuple[int, ...],
    refused: tuple[tuple[str, Reason], ...],
    math: KernelMath | None = NO_OVERRIDES.math,
) -> EmittedKernels:
    """Print an emitter's result. math: None leaves functions unchanged."""
    scratch = descriptor.scratch_bytes > 0
    kernels = []
    used: dict[tuple[str, str], None] = {}
    for one in descriptor.kernels:
        steps = [DeviceMathStep(math)] if math is not None else []
        kernel = one.context.finish(slots, steps)
        used.update(dict.fromkeys([function for step in steps for function in step.used]))
        kernel = kernel._replace(threads=one.launch.threads, parameters=kernel.parameters + scratch)
        facts = {**one._asdict(), "emitter": descriptor.emitter, "scratch": scratch}
        del facts["context"]
        kernels.append(GpuKernel(kernel=kernel, **facts))
    made = EmittedKernels(
        tuple(kernels),
        descriptor.emitter,
        descriptor.scratch_bytes,
        refused,
        descriptor.estimated_us,
        descriptor.nest,
    )
    return made._replace(math=tuple(sorted(used)))
