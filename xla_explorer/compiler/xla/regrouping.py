"""Fusions of XLA's module made and undone: which instructions one kernel computes."""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.transforms.fusion.building import build_fusion, order_callees_first
from xla_explorer.compiler.transforms.fusion.xla_fusible import LOOP_FUSIBLE
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.analysis.reachability import Reachability
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_LOOP = attributes_of({"kind": "kLoop"})  # the only kind that XLA:CPU writes as one loop
_KINDS = ("kLoop", "kInput")


def named(module: HloModule, name: str) -> HloInstruction | Reason:
    """Return the instruction with a name, in any computation."""
    names = {i.name: i for i in module.instructions()}
    found = names.get(name)
    if found is not None:
        return found
    near = " or ".join([f"%{one}" for one in nearest(name, names)])
    return refuse(
        "not-in-the-module",
        f"{module.name} has no instruction %{name}" + (f"; similar: {near}" if near else ""),
        instruction=name,
    )


def kernel_of(i: HloInstruction) -> HloInstruction:
    """Return the fusion whose kernel computes an instruction; itself if no fusion does."""
    for caller in i.parent.module.instructions():
        if caller.opcode.name == "fusion" and i.parent in caller.called:
            return caller
    return i


def fuse(module: HloModule, producer: HloInstruction, consumer: HloInstruction) -> Reason | None:
    """Compute two instructions by one kernel, with everything that their kernels compute.

    Other readers of the producer keep a kernel of it. Returns why not, or None.
    """
    first, second = kernel_of(producer), kernel_of(consumer)
    if first is second:
        return refuse(
            "already-in-one-kernel",
            f"%{producer.name} and %{consumer.name} are both computed by %{first.name}",
        )
    reason = _why_not_fused(first, second)
    if reason is not None:
        return reason
    place = second.parent
    above, below = _members(first), _members(second)
    root = below[-1]
    build_fusion(place, root, _in_order(place, [*below, *above]), kind=_LOOP)
    rest = [i for i in above if i.parent is place]
    if rest:
        build_fusion(place, rest[-1], _in_order(place, rest), kind=_LOOP)
    order_callees_first(module)
    return None


def _why_not_fused(first: HloInstruction, second: HloInstruction) -> Reason | None:
    if first.parent is not second.parent or first not in second.operands:
        return refuse(
            "not-producer-and-consumer",
            f"the kernel %{second.name} does not read the result of %{first.name}",
        )
    for kernel in (first, second):
        if kernel.opcode.name == "fusion":
            reason = _why_no_loop(kernel)
            if reason is not None:
                return reason
            if kernel.shape.is_tuple:
                return refuse("several-results", f"%{kernel.name} has several results")
        elif kernel.opcode not in LOOP_FUSIBLE or not kernel.shape.is_array:
            return refuse(
                "opcode-not-fusible",
                f"XLA:CPU emits no loop for %{kernel.name} ({kernel.opcode.name})",
            )
        if kernel.control_predecessors:
            return refuse("has-control-edges", f"%{kernel.name} has control predecessors")
    if any(i.opcode.name == "scatter" for i in _inside(first)):
        return refuse(
            "opcode-not-fusible", f"a scatter (%{first.name}) must be the root of its kernel"
        )
    written = overwritten(second)
    read = next((i for i in (first, *first.operands) if i in written), None)
    if read is not None:
        return refuse(
            "overwritten-in-place",
            f"%{second.name} overwrites %{read.name} in place, which %{first.name} must read before",
        )
    return None


def _inside(kernel: HloInstruction) -> Iterable[HloInstruction]:
    """Return the instructions that a kernel computes."""
    return kernel.called[0].instructions.values() if kernel.opcode.name == "fusion" else (kernel,)


def overwritten(kernel: HloInstruction) -> set[HloInstruction]:
    """Return the arrays that a kernel updates in place, by scatter or dynamic-update-slice."""
    found = set()
    for i in _inside(kernel):
        count = {"scatter": len(i.operands) // 2, "dynamic-update-slice": 1}.get(i.opcode.name, 0)
        for array in i.operands[:count]:
            while array.opcode.name == "bitcast":
                array = array.operands[0]
            is_inner = array.opcode.name == "parameter" and kernel.opcode.name == "fusion"
            found.add(kernel.operands[array.parameter_number] if is_inner else array)
    return found


def _why_no_loop(fusion: HloInstruction) -> Reason | None:
    """Return why XLA:CPU could not emit the instructions of a fusion as loops, or None.

    A fusion for a library (kCustom) is dissolved if loops can compute all of it.
    """
    kind = fusion.attribute("kind")
    inside = fusion.called[0].instructions.values()
    other = next(
        (i for i in inside if i.opcode.name != "parameter" and i.opcode not in LOOP_FUSIBLE), None
    )
    if kind in _KINDS or other is None:
        return None
    return refuse(
        "kernel-of-another-kind",
        f"XLA emits %{fusion.name} ({kind}) by special code, and its {other.opcode.name} not by "
        "a loop",
    )


def keep_apart(
    module: HloModule, producer: HloInstruction, consumer: HloInstruction
) -> Reason | None:
    """Split a kernel so that a producer is stored before its consumer reads it.

    One new kernel computes the producer and what only the producer needs, another the rest. Returns
    why not, or None.
    """
    kernel = kernel_of(producer)
    if kernel is not kernel_of(consumer) or kernel is producer:
        return refuse(
            "already-apart",
            f"%{producer.name} and %{consumer.name} are computed by two kernels",
        )
    reason = _why_no_loop(kernel)
    if reason is not None:
        return reason
    reachability = Reachability(kernel.called[0])
    if not reachability.reaches(producer, consumer):
        return refuse(
            "not-producer-and-consumer",
            f"%{consumer.name} does not depend on %{producer.name}",
        )
    place, order = kernel.parent, _dissolved(kernel)
    root = order[-1]
    upper = [i for i in order if reachability.reaches(i, producer)]
    build_fusion(place, producer, _in_order(place, upper), kind=_LOOP)
    rest = [i for i in order if i.parent is place and i is not producer]
    build_fusion(place, root, _in_order(place, rest), kind=_LOOP)
    order_callees_first(module)
    return None


def _members(kernel: HloInstruction) -> list[HloInstruction]:
    """Return the instructions of a kernel in its caller, the root last; a fusion is dissolved."""
    return _dissolved(kernel) if kernel.opcode.name == "fusion" else [kernel]


def _dissolved(fusion: HloInstruction) -> list[HloInstruction]:
    """Move the instructions of a fusion to its place, and return them in order, the root last.

    They keep their names and ids. The fusion and its computation are removed.
    """
    place, body = fusion.parent, fusion.called[0]
    order, root = list(body.post_order()), body.root
    known = {i: fusion.operands[i.parameter_number] for i in order if i.opcode.name == "parameter"}
    moved = [i for i in order if i not in known]
    for i in moved:
        i.operands = tuple([known.get(o, o) for o in i.operands])
        i.users, i._record = (), None
    for i in moved:
        place.insert(i)
    place.replace(fusion, known.get(root, root))
    place.remove(fusion)
    place.module.remove_computation(body)
    return moved


def _in_order(place: HloComputation, members: Iterable[HloInstruction]) -> list[HloInstruction]:
    """Return members with users before producers."""
    inside = set(members)
    return [i for i in reversed(place.post_order()) if i in inside]


_FREE = frozenset({"parameter", "constant", "broadcast", "iota", "bitcast", "reshape", "tuple"})


def edges_inside(module: HloModule) -> list[tuple[int, tuple[str, str]]]:
    """Return (work, (producer, consumer)) of each pair that one kernel computes.

    Work is the number of elements that the kernel's instructions compute. Producers that cost
    nothing to compute again are left out.
    """
    found = []
    for fusion in module.entry.instructions.values():
        if fusion.opcode.name != "fusion" or _why_no_loop(fusion) is not None:
            continue
        inside = fusion.called[0].instructions.values()
        work = sum([i.shape.element_count for i in inside if i.shape.is_array])
        found += [
            (work, (producer.name, consumer.name))
            for consumer in inside
            for producer in dict.fromkeys(consumer.operands)
            if producer.opcode.name not in _FREE and consumer.opcode.name not in _FREE
        ]
    return found


def edges_between(module: HloModule) -> list[tuple[int, tuple[str, str]]]:
    """Return (work, (producer, consumer)) of each pair of kernels that one loop could compute."""
    found = []
    for second in module.entry.instructions.values():
        for first in dict.fromkeys(second.operands):
            if "fusion" not in (first.opcode.name, second.opcode.name):
                continue
            if first.opcode.name in _FREE or _why_not_fused(first, second) is not None:
                continue
            ends = [_end(first), _end(second)]
            found.append((first.shape.element_count, (ends[0].name, ends[1].name)))
    return found


def _end(kernel: HloInstruction) -> HloInstruction:
    """Return the instruction that names a kernel: the root of a fusion, or itself."""
    return kernel.called[0].root if kernel.opcode.name == "fusion" else kernel
