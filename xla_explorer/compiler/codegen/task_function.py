"""Functions through which the thread pool runs a task of a kernel, or a block of a chain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction
from xla_explorer.compiler.codegen.kernels import Kernel


def scratch_of_task(kernel: Kernel) -> int:
    """Return the distance between the scratch memories of two tasks in bytes.

    It avoids shared cache lines and cache-set conflicts.
    """
    return (
        kernel.scratch_bytes
        if kernel.tasks == 1 or kernel.phases
        else -(-kernel.scratch_bytes // 4096) * 4096 + 192
    )


def scratch_of_kernel(kernel: Kernel, threaded: bool) -> int:
    """Return the bytes of scratch memory of all concurrent tasks.

    threaded: the thread pool runs the tasks.
    """
    return scratch_of_task(kernel) * (kernel.tasks if threaded and not kernel.phases else 1)


def task_function(function: str, kernel: Kernel, origin: int) -> LlvmFunction:
    """Return the function that the pool calls for one task of a kernel.

    It loads the kernel's pointers from memory and adds the task's offset in scratch memory. In a
    kernel with phases, a number after the pointers is the first task of the phase.
    """
    count = kernel.parameters + len(kernel.constant_data) + (kernel.scratch_bytes > 0)
    lines = _loaded_pointers(range(count))
    arguments = [f"ptr %p{k}" for k in range(count)]
    number = "%task"
    if kernel.phases:
        number = "%number"
        lines.append(f"  %at{count} = getelementptr inbounds ptr, ptr %context, i64 {count}")
        lines += [
            f"  %first = load i64, ptr %at{count}, align 8",
            "  %number = add i64 %task, %first",
        ]
    elif kernel.scratch_bytes:
        lines.append(f"  %offset = mul i64 %task, {scratch_of_task(kernel)}")
        lines.append(f"  %own = getelementptr inbounds i8, ptr %p{count - 1}, i64 %offset")
        arguments[-1] = "ptr %own"
    lines.append(f"  call void @{function}({', '.join([*arguments, f'i64 {number}'])})")
    return _called_by_the_pool(task_name(function), lines, [function], origin)


def task_name(function: str) -> str:
    """Return the name of the function of one task of a kernel."""
    return f"{function}_task"


def chain_function(name: str, calls: Sequence[tuple[str, Sequence[int]]]) -> LlvmFunction:
    """Return the function that the pool calls for one block of a chain of kernels.

    calls: (kernel, the numbers of its pointers in the context).
    """
    lines = _loaded_pointers(sorted({k for _, numbers in calls for k in numbers}))
    for function, numbers in calls:
        lines.append(
            f"  call void @{function}({', '.join([*[f'ptr %p{k}' for k in numbers], 'i64 %task'])})"
        )
    return _called_by_the_pool(name, lines, [function for function, _ in calls], None)


def _loaded_pointers(numbers: Iterable[int]) -> list[str]:
    lines = ["entry:"]
    for k in numbers:
        lines.append(f"  %at{k} = getelementptr inbounds ptr, ptr %context, i64 {k}")
        lines.append(f"  %p{k} = load ptr, ptr %at{k}, align 8")
    return lines


def _called_by_the_pool(
    name: str, lines: list[str], callees: Sequence[str], origin: int | None
) -> LlvmFunction:
    lines.append("  ret void")
    return LlvmFunction(
        name,
        ("ptr %context", "i64 %task"),
        tuple(lines),
        (origin,) * len(lines),
        origin,
        callees=tuple(callees),
    )
