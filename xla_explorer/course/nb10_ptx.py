"""Notebook 10, a reduction in PTX: first within a warp, then within a block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.backends.gpu.emulator import EmulatorLimitError
from xla_explorer.course.checking.programs import Array
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, exercise
from xla_explorer.course.checking.result import TOO_SLOW, Failure, value_text
from xla_explorer.course.ptx_run import run_ptx, the_kernel
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

if TYPE_CHECKING:
    from xla_explorer.backends.gpu.emulator.ptx_text import PtxInstruction, PtxKernel

BLOCK = 256
_REGISTER = re.compile(r"%[a-z]+\d+\b")  # not %tid.x and its like


def sum_program(count: int) -> HloModule:
    """Return the HLO that the kernel implements."""
    return parse_hlo(f"""HloModule sum
add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT t = f32[] add(a, b) }}
ENTRY main {{ x = f32[{count}] parameter(0)  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add }}""")


def _inputs(counts: Iterable[int]) -> list[Array]:
    cases = []
    for count in counts:
        for place in sorted({0, 1, count // 2, count - 1} & set(range(count))):
            lone = np.zeros(count, np.float32)
            lone[place] = 1
            cases.append(lone)
        cases.append(np.arange(count, dtype=np.float32) % 17)
    return cases


def _form(text: str, needs: tuple[str, ...], without: tuple[str, ...]) -> Failure | None:
    try:
        kernel = the_kernel(text)
    except XlaExplorerError as error:
        return Failure(
            "cannot-be-read",
            "The PTX cannot be read.",
            got=str(error),
            hint="Each instruction ends with `;`; registers are declared with .reg.",
        )
    opcodes = [i.opcode for i in kernel.instructions]
    for wanted in needs:
        if not any(opcode.startswith(wanted) for opcode in opcodes):
            return Failure(
                "form",
                f"The kernel has no {wanted}.",
                f"{wanted}...",
                ", ".join(dict.fromkeys(opcodes)) or "no instructions",
                hint="Lanes of a warp exchange registers with shfl.sync; warps of a block "
                "synchronise at bar.sync.",
            )
    for unwanted in without:
        used = [opcode for opcode in opcodes if unwanted in opcode.split(".")]
        if used:
            return Failure(
                "form",
                f"Here {unwanted} is not needed.",
                f"no {unwanted}",
                used[0],
                hint="Values of other lanes come by shfl.sync, not through memory.",
            )
    return None


def _unwritten(kernel: PtxKernel) -> tuple[PtxInstruction, str] | None:
    """Return a register that is live at the kernel's start, with an instruction that reads it.

    A guarded write counts as a write.
    """
    code = kernel.instructions
    alive: list[set[str]] = [set() for _ in range(len(code) + 1)]
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(len(code))):
            reads, writes = _registers(code[pc])
            name = code[pc].opcode.split(".")[0]
            behind = {pc + 1} if name not in ("bra", "ret", "exit") or code[pc].guard else set()
            if name == "bra":
                behind |= {
                    kernel.labels[label] for label in code[pc].operands if label in kernel.labels
                }
            here = reads | (set().union(*[alive[k] for k in behind]) - writes)
            changed |= here != alive[pc]
            alive[pc] = here
    first = min(alive[0], default=None)
    return next(((i, first) for i in code if first in _registers(i)[0]), None) if first else None


def _registers(i: PtxInstruction) -> tuple[set[str], set[str]]:
    """Return the numbered registers that an instruction reads, and those that it writes."""
    stores = i.opcode.split(".")[0] in ("st", "red", "bra", "bar", "ret")
    writes = set() if stores else set(_REGISTER.findall(i.operands[0] if i.operands else ""))
    reads = _REGISTER.findall(
        " ".join(map(str, (*(i.operands if stores else i.operands[1:]), i.guard or "")))
    )
    return set(reads), writes


def _run(
    text: Any, inputs: list[Array], threads: int, needs: tuple[str, ...], without: tuple[str, ...]
) -> Cases:
    if not isinstance(text, str):
        raise WrongAnswerError(
            Failure("no-text", "The answer is PTX text.", "a string", repr(text))
        )
    if "your turn" in text:
        raise NotImplementedError
    failure = _form(text, needs, without)
    if failure is not None:
        raise WrongAnswerError(failure)
    for x in inputs:
        program = sum_program(x.size)
        try:
            done = run_ptx(text, x, outputs=1, threads=threads, numbers=(x.size,))
        except EmulatorLimitError as error:
            raise WrongAnswerError(
                Failure(
                    TOO_SLOW,
                    f"The kernel does not end, for n = {x.size}.",
                    "a kernel that ends",
                    error.message,
                    program,
                    (x,),
                    "Does the counter of each loop grow, and is it compared with n?",
                )
            ) from error
        except XlaExplorerError as error:
            raise WrongAnswerError(
                Failure(
                    "cannot-run",
                    "The emulator refuses this kernel.",
                    "parameters: input (u64), output (u64), n (u32)",
                    str(error),
                    program,
                )
            ) from error
        if done.findings:
            raise WrongAnswerError(
                Failure(
                    "fault",
                    f"The emulator found a fault, for n = {x.size}.",
                    "no fault",
                    done.findings[0],
                    program,
                    (x,),
                    "Is every load below n? Does one thread alone store the result? Do all "
                    "threads reach each barrier, before others "
                    "read what they wrote?",
                )
            )
        want = x.sum(dtype=np.float64).astype(np.float32)
        if not np.array_equal(done.output, [want]):
            hint = (
                "Follow the lone 1: which lane holds it after each step?"
                if (x != 0).sum() == 1
                else "Is an element added twice?"
            )
            raise WrongAnswerError(
                Failure(
                    "wrong-sum",
                    f"The sum of {x.size} elements is another one.",
                    str(want),
                    value_text(done.output),
                    program,
                    (x,),
                    hint,
                )
            )
        yield None
    unwritten = _unwritten(the_kernel(text))
    if unwritten is not None:
        i, register = unwritten
        raise WrongAnswerError(
            Failure(
                "unwritten-register",
                f"All sums are right here, and yet `{i.text}` may read {register} before "
                "anything has written it.",
                f"{register} written on every way there",
                "the register's old value: 0 on the emulator, undefined on a device",
                sum_program(inputs[0].size),
                hint=f"Give {register} a value at the top, with mov.",
            )
        )


@exercise(
    "nb10.warp",
    "Write a kernel that sums 32 numbers in one warp.",
    "Start from the text of section 2, and shuffle instead of storing.",
    hints=(
        (
            "shfl.sync.down by 16, 8, 4, 2, 1: after each step half of the lanes hold sums of "
            "twice as many."
        ),
        "Only lane 0 holds the whole sum, and only it stores.",
    ),
)
def warp(text: Any) -> Cases:
    """Check 32 threads on 32 elements, with shuffles only."""
    yield from _run(text, _inputs([32]), 32, ("shfl.sync",), ("shared", "local", "atom", "red"))


@exercise(
    "nb10.block",
    "Write a kernel that sums n numbers with one block of 256 threads.",
    "Let each thread add up elements tid, tid + 256, ... below n first.",
    hints=(
        (
            "Each warp reduces its 32 lanes by shuffles; lane 0 writes the sum to shared memory "
            "at the warp's number."
        ),
        "bar.sync separates writing shared memory from reading it, and all threads reach it.",
        "The first warp then reduces the 8 sums.",
    ),
)
def block(text: Any) -> Cases:
    """Check eight warps for any n: partial sums, shuffles, shared memory, one barrier, shuffles."""
    yield from _run(
        text,
        _inputs([256, 1, 31, 33, 255, 257, 700, 0]),
        BLOCK,
        ("shfl.sync", "st.shared", "ld.shared", "bar"),
        ("local", "atom", "red"),
    )
