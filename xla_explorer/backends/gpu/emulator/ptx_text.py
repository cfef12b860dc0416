"""Parser of PTX text: kernels of instructions, each with its line and HLO instruction.

Source: PTX ISA, "Syntax", "State Spaces, Types, and Variables", "Kernel and Function Directives".
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xla_explorer.foundation.diagnostic import XlaExplorerError


class PtxSyntaxError(XlaExplorerError, ValueError):
    """Invalid PTX text; the message names the line."""


class UnsupportedPtxError(XlaExplorerError, NotImplementedError):
    """An unsupported instruction, raised when a kernel is prepared, never while it runs."""


class PtxInstruction(NamedTuple):
    """A PTX instruction.

    opcode: with its modifiers, `ld.global.v4.b32`. guard: `%p1`, `!%p1` or None. line: of the PTX
    text, from 1. origin: the id from the source map, else the line of the last `.loc`, else None.
    used_bytes: of a load, a mask of the used bytes, from the pragma `used_bytes_mask` before it.
    """

    opcode: str
    operands: tuple[str, ...]
    guard: str | None
    line: int
    origin: int | None
    used_bytes: int | None = None

    @property
    def text(self) -> str:
        """The instruction as PTX text."""
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".rstrip()


class PtxVariable(NamedTuple):
    """A variable of a state space. size, align: bytes. data: initial bytes, or None."""

    name: str
    space: str
    size: int
    align: int
    data: bytes | None


@dataclass(slots=True)
class PtxKernel:
    """A PTX kernel.

    parameters: name -> (offset, size) in the parameter block. registers: declared name, or prefix
    and `<`, -> type. labels: -> instruction index. tables: of `.branchtargets`: name -> labels.
    threads: of `.maxntid` or `.reqntid`, 0 by default.
    """

    name: str
    parameters: dict[str, tuple[int, int]] = field(default_factory=dict)
    parameter_bytes: int = 0
    registers: dict[str, str] = field(default_factory=dict)
    instructions: list[PtxInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, PtxVariable] = field(default_factory=dict)
    threads: int = 0


class PtxModule(NamedTuple):
    """Kernels and module-level variables by name."""

    kernels: dict[str, PtxKernel]
    variables: dict[str, PtxVariable]


_VARIABLE = re.compile(
    r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?P<space>shared|global|const|local)\s+(?:\.align\s+(?P<align>\d+)\s+)?"
    r"\.(?P<type>\w+)\s+(?P<name>[\w$]+)(?P<dimensions>(?:\[\d*\])*)(?:\s*=\s*(?P<value>.*))?$",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+(?:\.ptr\s+)?(?:\.(?:global|shared|const|local)\s+)?"
    r"(?:\.align\s+\d+\s+)?(?P<name>[\w$]+)(?:\[(?P<count>\d+)\])?"
)
_HEADER = re.compile(r"(?:\.(?:visible|weak|extern)\s+)*\.(entry|func)\b")
_LABEL = re.compile(r"\s*([\w$]+)\s*:(?!:)")
_USED_BYTES = re.compile(r"used_bytes_mask\s+(0x[0-9a-fA-F]+|\d+)")
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+")
_LINE_DIRECTIVES = (".version", ".target", ".address_size", ".file")


def parse_ptx(text: str, origins: Sequence[int | None] | None = None) -> PtxModule:
    """Parse the kernels of a text. origins: of each line; None: the lines of `.loc`."""
    return _Reader(origins).read(text)


def type_bytes(name: str) -> int:
    """Return the bytes of a PTX type: `f32` 4, `b8` 1, `bf16x2` 4."""
    if name == "pred":
        return 1
    digits = re.findall(r"\d+", name)
    count = int(digits[1]) if len(digits) > 1 and "x" in name else 1
    return max(int(digits[0]) * count // 8, 1)


def literal_bits(text: str, kind: str) -> int:
    """Return the bits of a constant operand of a type, negative for negative integers."""
    negative, body = text.startswith("-"), text.lstrip("+-")
    low = body[:2].lower()
    if low == "0f" and len(body) == 10:
        bits = int(body[2:], 16)
        if kind == "f64":
            value = struct.unpack("<f", struct.pack("<I", bits))[0]
            bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return bits ^ (1 << 31) if negative else bits
    if low == "0d" and len(body) == 18:
        bits = int(body[2:], 16)
        return bits ^ (1 << 63) if negative else bits
    if low != "0x" and ("." in body or "e" in body.lower()):
        small = kind == "f32"
        packed = struct.pack("<f" if small else "<d", float(text))
        return int(struct.unpack("<I" if small else "<Q", packed)[0])
    body = body.rstrip("Uu")
    octal = len(body) > 1 and body[0] == "0" and body.isdigit()
    value = int(body, 8) if octal else int(body, 0)
    return -value if negative else value


class _Reader:
    """One pass over the lines; a brace is a scope at the start of a statement, else a vector."""

    def __init__(self, origins: Sequence[int | None] | None) -> None:
        self.origins = origins
        self.module = PtxModule({}, {})
        self.kernel: PtxKernel | None = None
        self.depth = 0
        self.location: int | None = None
        self.used_bytes: int | None = None
        self.label = ""
        self.number = 1

    def read(self, text: str) -> PtxModule:
        """Return the module, or raise PtxSyntaxError."""
        try:
            return self._read(text)
        except XlaExplorerError:
            raise
        except Exception as problem:  # arbitrary text: missing words, invalid numbers
            lines = text.split("\n")
            shown = lines[self.number - 1].strip() if self.number <= len(lines) else ""
            raise PtxSyntaxError(
                f"PTX line {self.number}: cannot read {shown!r}",
                "is the text PTX, as LLVM writes it?",
            ) from problem

    def _read(self, text: str) -> PtxModule:
        pending, pending_line, section = "", 0, 0
        for number, raw in enumerate(text.split("\n"), 1):
            self.number = number
            line = raw.split("//", 1)[0].strip()
            if section:
                section += line.count("{") - line.count("}")
                continue
            if not line:
                continue
            if not pending:
                if line.startswith(".section"):
                    section = line.count("{") - line.count("}")
                    continue
                if line.startswith(".loc"):
                    words = line.split()
                    if words[0] == ".loc":
                        self.location = int(words[2])
                        continue
                if line.startswith(_LINE_DIRECTIVES):
                    continue
                pending_line = number
            pending = f"{pending} {line}" if pending else line
            rest = self._consume(pending, pending_line, number)
            if rest != pending:
                pending_line = number
            pending = rest
        if self.kernel is not None:
            raise PtxSyntaxError(
                f"the PTX text ends inside the kernel {self.kernel.name}",
                "its closing brace is missing",
            )
        return self.module

    def _consume(self, text: str, line: int, last_line: int) -> str:
        """Consume whole statements from the front and return the rest."""
        while text:
            if self.kernel is None:
                rest = self._outside_kernel(text)
                if rest is None:
                    return text
                text = rest
                continue
            rest = self._punctuation(self.kernel, text)
            if rest is None:
                statement, semicolon, rest = text.partition(";")
                if not semicolon:
                    return text
                self._statement(self.kernel, statement.strip(), line)
                line = last_line
            text = rest.strip()
        return ""

    def _outside_kernel(self, text: str) -> str | None:
        """Consume a kernel's header, a brace or a variable; None if it is incomplete."""
        if _HEADER.match(text):
            head, brace, rest = text.partition("{")
            if brace:
                self.kernel, self.depth, self.location = _kernel_of(head), 1, None
                return rest.strip()
            return "" if text.endswith(";") else None
        if text[0] in "{}":
            return text[1:].strip()
        if not text.endswith(";"):
            return None
        variable = _variable_of(text[:-1])
        if variable is not None:
            self.module.variables[variable.name] = variable
        return ""

    def _punctuation(self, kernel: PtxKernel, text: str) -> str | None:
        """Consume a brace or a label in a kernel; None if the text begins with neither."""
        if text[0] == "{":
            self.depth += 1
            return text[1:]
        if text[0] == "}":
            self.depth -= 1
            if self.depth == 0:
                self.module.kernels[kernel.name] = kernel
                self.kernel = None
            return text[1:]
        label = _LABEL.match(text)
        if label is None:
            return None
        kernel.labels[label[1]], self.label = len(kernel.instructions), label[1]
        return text[label.end() :]

    def _statement(self, kernel: PtxKernel, text: str, line: int) -> None:
        if text.startswith("."):
            if text.startswith(".reg"):
                _, kind, names = text.split(None, 2)
                for name in names.split(","):
                    stem, bracket, _ = name.strip().partition("<")
                    kernel.registers[stem + bracket] = kind[1:]
                return
            if text.startswith(".pragma"):
                mask = _USED_BYTES.search(text)
                self.used_bytes = int(mask[1], 0) if mask else self.used_bytes
                return
            if text.startswith(".branchtargets"):
                kernel.tables[self.label] = [
                    name.strip() for name in text.split(None, 1)[1].split(",")
                ]
                return
            variable = _variable_of(text)
            if variable is None:
                raise PtxSyntaxError(
                    f"line {line}: cannot read {text!r}",
                    "the emulator does not read this kind of declaration",
                )
            kernel.variables[variable.name] = variable
            return
        guard = None
        if text.startswith("@"):
            guard, text = text[1:].split(None, 1)
        words = text.split(None, 1)
        operands = (
            tuple([o.strip() for o in _OPERAND.findall(words[1]) if o.strip()])
            if len(words) > 1
            else ()
        )
        origin = (
            self.location
            if self.origins is None
            else self.origins[line - 1]
            if line <= len(self.origins)
            else None
        )
        kernel.instructions.append(
            PtxInstruction(words[0], operands, guard, line, origin, self.used_bytes)
        )
        self.used_bytes = None


def _kernel_of(head: str) -> PtxKernel:
    found = re.search(r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", head)
    if found is None:
        raise PtxSyntaxError(f"cannot read the kernel header {head!r}")
    kernel = PtxKernel(found[2])
    offset = 0
    for match in _PARAMETER.finditer(head):
        width = type_bytes(match["type"])
        size, align = width * int(match["count"] or 1), int(match["align"] or width)
        offset = -(-offset // align) * align
        kernel.parameters[match["name"]] = (offset, size)
        offset += size
    kernel.parameter_bytes = offset
    limit = re.search(r"\.(?:max|req)ntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", head)
    if limit is not None:
        kernel.threads = int(limit[1]) * int(limit[2] or 1) * int(limit[3] or 1)
    return kernel


def _variable_of(text: str) -> PtxVariable | None:
    match = _VARIABLE.match(text.strip())
    if match is None:
        return None
    count = 1
    for dimension in re.findall(r"\[(\d*)\]", match["dimensions"]):
        count *= int(dimension or 0)
    kind = match["type"]
    width = type_bytes(kind)
    data = None
    if match["value"]:
        mask = (1 << 8 * width) - 1
        words = re.findall(r"[\w.+-]+", match["value"])
        data = b"".join(
            [(literal_bits(word, kind) & mask).to_bytes(width, "little") for word in words]
        )
    return PtxVariable(
        match["name"], match["space"], width * count, int(match["align"] or width), data
    )
