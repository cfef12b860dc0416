"""Records of the lowering of kernels, for who steps through it.

Nothing is recorded outside of `recorded_lowering`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.llvm_text import Lines


class LoweringSnapshot(NamedTuple):
    """A kernel after a step of its lowering.

    Attributes
    ----------
    kernel : int
        The id of its HLO instruction.
    step, sentence : str
        The name of the step, and what it does.
    lines, origins : tuple of str, tuple of int or None
        The kernel as text, and the HLO instruction of each line.
    """

    kernel: int
    step: str
    sentence: str
    lines: tuple[str, ...]
    origins: tuple[int | None, ...]


class LoweringRecorder:
    """Collects snapshots. kernel: the one that is lowered."""

    def __init__(self) -> None:
        self.snapshots: list[LoweringSnapshot] = []
        self.kernel = -1

    def add(self, step: str, sentence: str, lines: Lines) -> None:
        """Add the state of the kernel after a step."""
        texts, origins = zip(*lines, strict=True) if lines else ((), ())
        self.snapshots.append(LoweringSnapshot(self.kernel, step, sentence, texts, origins))


_RECORDER: ContextVar[LoweringRecorder | None] = ContextVar("lowering recorder", default=None)


@contextmanager
def recorded_lowering() -> Iterator[LoweringRecorder]:
    """Record the lowering of the kernels that are written inside."""
    recorder = LoweringRecorder()
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)


def is_recorded() -> bool:
    """Return True inside of `recorded_lowering`."""
    return _RECORDER.get() is not None


def begin_kernel(kernel: int) -> None:
    """Note which kernel the next steps change."""
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.kernel = kernel


def record_step(step: str, sentence: str, lines: Callable[[], Lines]) -> None:
    """Record the kernel after a step, if somebody watches. lines: returns its text."""
    recorder = _RECORDER.get()
    if recorder is not None:
        recorder.add(step, sentence, lines())
