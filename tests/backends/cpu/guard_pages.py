"""Run programs with inaccessible pages beside arrays: `guard_pages.py GROUP [FIRST END STEP]`.

An access one byte outside of an argument, a result or the temporary memory ends the process; the
last line says where it was. GROUP: `opcodes`, `texts` (lengths around vectors and tiles), `random`
(by seed), `broken` (a result with too little memory: the process must die). FIRST END STEP: a range
of their numbers. Small programs are compiled for one to eight threads, and as if they were large.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import mmap
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

import xla_explorer as xe  # noqa: E402
from tests.properties.module_checks import assert_same, evaluate_leaves  # noqa: E402
from tests.properties.random_modules import RandomModule, random_module  # noqa: E402
from tests.support.opcode_programs import PROGRAMS, module_with  # noqa: E402
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable  # noqa: E402
from xla_explorer.compiler.codegen import cache_blocking, parallel_plan  # noqa: E402
from xla_explorer.compiler.codegen.nest import tuning  # noqa: E402
from xla_explorer.compiler.codegen.nest.policies import prefetches  # noqa: E402
from xla_explorer.hlo.evaluator import flatten_value  # noqa: E402
from xla_explorer.hlo.opcodes import OPCODES  # noqa: E402

Array = np.ndarray[Any, Any]
PAGE = mmap.PAGESIZE
THREADS = (1, 2, 3, 5, 8)
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


# Thresholds of large arrays, with values that small arrays exceed.
LIMITS: list[tuple[Any, str, float]] = [
    (prefetches, "TILE", 1 / 128), (tuning, "STREAMED", 0), (tuning, "STREAMED_TRANSPOSE", 0), (cache_blocking, "LEAST", 0),
    (cache_blocking, "BLOCK", 1 / 512),
]  # fmt: skip


@contextlib.contextmanager
def as_if_large(wanted: bool) -> Iterator[None]:
    """Small arrays are compiled as large ones are."""
    before = [getattr(module, name) for module, name, _ in LIMITS]
    for module, name, value in LIMITS if wanted else ():
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(LIMITS, before, strict=True):
            setattr(module, name, value)


class GuardedMemory:
    """`size` bytes between two inaccessible pages, flush with one of them.

    `at_end`: flush with the page behind, up to `alignment`; else with the page in front.
    """

    def __init__(self, size: int, *, at_end: bool, alignment: int = 1) -> None:
        room = max(-(-size // PAGE), 1) * PAGE
        self.owner = mmap.mmap(-1, room + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self.owner))
        self.offset = PAGE + ((room - size) // alignment * alignment if at_end else 0)
        self.address = first + self.offset
        self.owner[PAGE : PAGE + room] = b"\xa5" * room  # no zeros, so that missing stores show
        for guard in (first, first + PAGE + room):
            if _LIBC.mprotect(guard, PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")

    def array(self, like: Array) -> Array:
        """Return a copy of an array in this memory."""
        made: Array = np.ndarray(like.shape, like.dtype, self.owner, self.offset)
        made[...] = like
        return made


class GuardedSlot:
    """Stands for an `OutputSlot`: every result in memory of its own."""

    def __init__(self, slot: Any, at_end: bool, missing: int) -> None:
        self.slot, self.at_end, self.missing = slot, at_end, missing

    def take(self) -> tuple[Array, int]:
        memory = GuardedMemory(self.slot.nbytes - self.missing, at_end=self.at_end)
        made: Array = np.ndarray(self.slot.shape, self.slot.dtype, memory.owner, memory.offset)
        return made, memory.address


def run_guarded(
    session: xe.Session, arguments: list[Any], *, at_end: bool, missing: int = 0
) -> list[Array]:
    """Return the results of a program whose memory all has guards.

    missing: bytes that results lack, which must end the process.
    """
    executable: Any = session.executable
    if not isinstance(
        executable, CpuExecutable
    ):  # a program of one device that waits for others is not compiled
        return [np.array(leaf) for leaf in session.run_flat(arguments)]
    program = executable.program
    arena = GuardedMemory(max(executable.assignment.arena_size, 1), at_end=at_end, alignment=64)
    scratch = GuardedMemory(max(program.scratch_bytes, 1), at_end=at_end, alignment=64)
    activation = executable._own
    activation.arena, activation._scratch = arena, scratch
    activation.table[program.arena_slot] = arena.address
    if program.scratch_bytes:
        activation.table[program.scratch_slot] = scratch.address
    executable._outputs = [
        (GuardedSlot(getattr(slot, "slot", slot), at_end, missing), order)
        for slot, order in executable._outputs
    ]
    given = [
        None if a is None else GuardedMemory(a.nbytes, at_end=at_end).array(a) for a in arguments
    ]  # None: a token
    found = session.run_flat(given)
    for number, (mine, own) in enumerate(zip(given, arguments, strict=True)):
        assert mine is None or mine.tobytes() == own.tobytes(), f"argument {number} was written to"
    return [np.array(leaf) for leaf in found]


def check(case: RandomModule, what: str, threads: int, *, passes: str = "default") -> None:
    """Both ways of guarding, values beside the evaluator's."""
    expected = evaluate_leaves(case.module, case.arguments)
    session = xe.compile(
        case.module, backend="cpu", threads=threads, cache=False, journal="off", passes=passes
    )
    own = evaluate_leaves(session.module, case.arguments)
    arguments = [np.asarray(leaf) for leaf in flatten_value(case.arguments)]
    for at_end in (True, False):
        found = run_guarded(session, arguments, at_end=at_end)
        assert_same(case, own, found, f"{what}, beside its own optimised module")
        assert_same(case, expected, found, what)


def opcode_cases() -> Iterator[tuple[str, RandomModule]]:
    """Yield a small program of each opcode that is deterministic on one device."""
    for name in sorted({*PROGRAMS, *OPCODES} - {"rng", "rng-get-and-update-state"}):
        try:
            module = module_with(name)
        except Exception:
            continue
        generator = np.random.default_rng(1)
        try:
            arguments = tuple(
                [
                    np.asarray(generator.integers(0, 3, p.shape.dimensions)).astype(
                        p.shape.element_type.dtype
                    )
                    for p in module.entry.parameters()
                ]
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                leaves = evaluate_leaves(module, arguments)
        except Exception:  # needs a partner, a second device, a host
            continue
        yield (
            name,
            RandomModule(module, arguments, [100.0] * len(leaves), [False] * len(leaves), False),
        )


def body(kind: str, t: str, n: int) -> str:
    """Return a module over vectors of `n` elements of type `t`, for vectorised loops."""
    scalar = (
        f"add {{ a = {t}[] parameter(0)\n b = {t}[] parameter(1)\n ROOT c = {t}[] add(a, b) }}\n"
    )
    scalar += f"most {{ a = {t}[] parameter(0)\n b = {t}[] parameter(1)\n ROOT c = {t}[] maximum(a, b) }}\n"
    head = f"HloModule m\n{scalar}ENTRY e {{\n x = {t}[{n}] parameter(0)\n y = {t}[{n}] parameter(1)\n zero = {t}[] constant(0)\n"
    if kind == "elementwise":
        lines = [f" v0 = {t}[{n}] add(x, y)"]
        operations = ("multiply", "subtract", "maximum", "minimum", "add")
        lines += [
            f" v{k} = {t}[{n}] {operations[k % 5]}(v{k - 1}, {'x' if k % 2 else 'y'})"
            for k in range(1, 40)
        ]
        lines += [
            f" c = pred[{n}] compare(v39, x), direction=LT",
            f" ROOT r = {t}[{n}] select(c, v39, y)",
        ]
    elif kind == "two results":
        lines = [
            f" a = {t}[{n}] add(x, y)",
            f" b = {t}[{n}] multiply(a, x)",
            f" c = {t}[{n}] maximum(a, b)",
            f" ROOT r = ({t}[{n}], {t}[{n}], {t}[{n}]) tuple(a, b, c)",
        ]
    elif kind == "reduce":
        lines = [
            f" p = {t}[{n}] maximum(x, y)",
            f" s = {t}[] reduce(p, zero), dimensions={{0}}, to_apply=add",
            f" m = {t}[] reduce(p, zero), dimensions={{0}}, to_apply=most",
            f" ROOT r = ({t}[], {t}[]) tuple(s, m)",
        ]
    elif kind == "scan":
        lines = [
            f" ROOT r = {t}[{n}] reduce-window(x, zero), window={{size={n} pad={n - 1}_0}}, to_apply=add"
        ]
    else:
        lines = [
            f" b = {t}[67,{n}] broadcast(x), dimensions={{1}}",
            f" i = {t}[67,{n}] iota(), iota_dimension=0",
            f" p = {t}[67,{n}] add(b, i)",
            f" s = {t}[{n}] reduce(p, zero), dimensions={{0}}, to_apply=add",
            f" w = {t}[67] reduce(p, zero), dimensions={{1}}, to_apply=add",
            f" d = {t}[67,{n}] broadcast(w), dimensions={{0}}",
            f" q = {t}[67,{n}] subtract(p, d)",
            f" ROOT r = ({t}[67,{n}], {t}[{n}], {t}[67]) tuple(q, s, w)",
        ]
    return head + "\n".join(lines) + "\n}\n"


KINDS = ("elementwise", "two results", "reduce", "scan", "rows")
LENGTHS = (1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 127, 255, 257, 1023, 4099)
TYPES = ("f32", "f64", "s32", "u8", "s64", "bf16", "f16", "s16")


def text_cases() -> Iterator[tuple[str, RandomModule]]:
    """Lengths that vectors and tiles do not divide."""
    generator = np.random.default_rng(2)
    for kind in KINDS:
        for t in TYPES:
            for n in LENGTHS:
                module = xe.parse_hlo(body(kind, t, n))
                arguments = tuple(
                    [
                        np.asarray(generator.integers(0, 4, p.shape.dimensions)).astype(
                            p.shape.element_type.dtype
                        )
                        for p in module.entry.parameters()
                    ]
                )
                leaves = evaluate_leaves(module, arguments)
                yield (
                    f"{kind} {t} {n}",
                    RandomModule(
                        module, arguments, [1e4] * len(leaves), [False] * len(leaves), False
                    ),
                )


def main() -> None:
    """Run a group."""
    faulthandler.enable()
    group, usual = sys.argv[1], parallel_plan.TASK_WAKES
    if group == "broken":
        session = xe.compile(
            body("elementwise", "f32", 1000), backend="cpu", cache=False, journal="off"
        )
        run_guarded(session, [np.zeros(1000, np.float32)] * 2, at_end=True, missing=4)
    numbers = range(*[int(x) for x in sys.argv[2:5]]) if len(sys.argv) > 2 else range(1_000_000)
    cases: Iterator[tuple[int, tuple[str, RandomModule]]]
    if group == "random":
        cases = ((seed, (f"seed {seed}", random_module(seed, 14))) for seed in numbers)
    else:
        cases = (
            (n, case)
            for n, case in enumerate(opcode_cases() if group == "opcodes" else text_cases())
            if n in numbers
        )
    done = 0
    for number, (name, case) in cases:
        threads = THREADS[number % len(THREADS)]
        # Small programs have little work: they are cut all the same.
        parallel_plan.TASK_WAKES = 1e-3 if threads > 1 else usual
        large = number // len(THREADS) % 2 == 0
        print(f"{group}: {name}, {threads} threads{', as if large' if large else ''}", flush=True)
        with as_if_large(large):
            check(case, name, threads)
        done += 1
    print(f"done: {done}")


if __name__ == "__main__":
    main()
