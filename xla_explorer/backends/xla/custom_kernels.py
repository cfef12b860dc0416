"""Kernels of Pallas or Triton in a program, which XLA calls without a view of their code.

The configuration of a call of Triton is an MLIR dictionary with the function's name, its grid and
its intermediate representation. The representation is text, or MLIR bytecode, which jaxlib prints
if it has Triton's dialect. Both contain the names of the user's functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.frontends.jax_program.foreign_mlir import triton_text
from xla_explorer.frontends.jax_program.mlir import MlirConversionError
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule

_TARGETS: Final = ("triton", "mosaic", "tpu_custom_call", "pallas")
_NUMBER: Final = re.compile(
    r"\b(grid_[xyz]|num_warps|num_stages|num_ctas|cluster_dim_[xyz]) = (\d+)"
)
_NAME: Final = re.compile(r'\bname = "((?:[^"\\]|\\.)*)"')
_IR: Final = re.compile(r'\b(?:ir|module) = "((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\([0-9A-F]{2}|.)", re.DOTALL)
_SOURCE: Final = re.compile(rb"[\w.<>]{3,}\.<locals>\.\w+")


class CustomKernel(NamedTuple):
    """A kernel of the program's own.

    id: of its instruction. function: the kernel's name on the device. code: its representation as
    text, empty for bytecode. bytecode: else empty. source: the user's function, if the code names
    it.
    """

    name: str
    id: int
    target: str
    function: str
    figures: str
    code: str
    bytecode: bytes
    source: str


def custom_kernel(i: HloInstruction) -> CustomKernel | None:
    """Return the kernel in a custom call's configuration; None for library calls."""
    target = custom_call_target(i)
    if i.opcode.name != "custom-call" or not any(word in target.lower() for word in _TARGETS):
        return None
    config = str(i.attributes.get("backend_config", "") or "")
    numbers = {name: int(value) for name, value in _NUMBER.findall(_IR.sub("", config))}
    grid = "x".join([str(numbers.pop(f"grid_{axis}", 1)) for axis in "xyz"])
    name, found = _NAME.search(_IR.sub("", config)), _IR.search(config)
    raw = _unescaped(found[1]) if found is not None else b""
    is_bytecode = raw.startswith(b"ML\xefR")
    source = _SOURCE.search(raw)
    figures = ", ".join([f"grid {grid}", *[f"{key} {value}" for key, value in numbers.items()]])
    return CustomKernel(
        i.name, i.id, target, name[1] if name is not None else "", figures, "" if is_bytecode else raw.decode(errors="replace"),
        raw if is_bytecode else b"", source[0].decode() if source is not None else "",
    )  # fmt: skip


def custom_kernels(module: HloModule) -> list[CustomKernel]:
    """Return the program's own kernels, in the order of their calls."""
    return [found for i in module.instructions() if (found := custom_kernel(i)) is not None]


def custom_kernel_text(
    module: HloModule, kernels: Sequence[CustomKernel]
) -> tuple[str, list[int | None]]:
    """Return a description of each kernel, and each line's instruction."""
    lines: list[str] = []
    origins: list[int | None] = []
    for kernel in kernels:
        made = kernel.code.rstrip().split("\n") if kernel.code else []
        if kernel.bytecode:
            made = _printed(kernel.bytecode)
        said = [
            f"%{kernel.name}: {kernel.function or 'a kernel'} by {kernel.target}, {kernel.figures}"
        ]
        if place := _place(module, kernel.name):
            said.append(f"  called at {place}")
        if kernel.source:
            said.append(f"  made of {kernel.source}")
        lines += [*said, *made, ""]
        origins += [kernel.id] * (len(said) + len(made)) + [None]
    return "\n".join(lines), origins


def _printed(bytecode: bytes) -> list[str]:
    """Return the text of bytecode, or the reason against it in a sentence."""
    said = f"  its representation is MLIR bytecode of {len(bytecode)} bytes"
    try:
        return triton_text(bytecode).rstrip().split("\n")
    except MissingExtraError:
        return [
            f"{said}, which jaxlib prints where it is installed; its PTX is among the program's"
        ]
    except MlirConversionError as problem:
        return [f"{said}, {problem.message}; its PTX is among the program's"]


def _place(module: HloModule, name: str) -> str:
    """Return the innermost known frame of a call."""
    found = parse_metadata(module.find(name).metadata or "")
    stack = (
        module.frames.stack(found.stack_frame_id)
        if module.frames is not None and found.stack_frame_id
        else []
    )
    return next((f"{file}:{line}" for file, _, line in stack), "")


def _unescaped(text: str) -> bytes:
    """Return the bytes of an MLIR string.

    A backslash precedes two hexadecimal digits, or one escaped character.
    """

    def one(found: re.Match[str]) -> str:
        return (
            chr(int(found[1], 16))
            if len(found[1]) == 2
            else {"n": "\n", "t": "\t"}.get(found[1], found[1])
        )

    return _ESCAPE.sub(one, text).encode("latin-1", "replace")
