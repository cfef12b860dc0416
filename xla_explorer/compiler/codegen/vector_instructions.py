"""Scalar LLVM instructions, as the function writer writes them, and the same in vectors; mathematical functions in vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xla_explorer.compiler.codegen.loop_refusals import RefusedLoop
from xla_explorer.compiler.codegen.vector_math import vector_math_module
from xla_explorer.foundation.reason import Reason

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}
FLOATS = {"half", "float", "double"}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_T = r"(i1|i8|i16|i32|i64|half|float|double)"
_OPERAND = r"(%[\w.]+|[^\s,]+)"
PHI = re.compile(r"  (%\w+) = phi i64 \[ (\S+), %([\w.]+) \], \[ (%\w+), %([\w.]+) \]")
LABEL = re.compile(r"([\w.]+):")
STEP = re.compile(r"  (%\w+) = add nuw nsw i64 (%\w+), 1")
BOUND = re.compile(r"  (%\w+) = icmp (slt|ne) i64 (%\w+), (\S+)")
BACK = re.compile(r"  br i1 (%\w+), label %([\w.]+), label %([\w.]+)(, !llvm\.loop !(\d+))?")
_BINARY = re.compile(rf"(f?(?:add|sub|mul|div|rem)|and|or|xor|shl|lshr|ashr)((?: [a-z]+)*?) {_T} {_OPERAND}, {_OPERAND}")
_NEGATE = re.compile(rf"fneg((?: [a-z]+)*?) {_T} {_OPERAND}")
_CAST = re.compile(rf"(trunc|zext|sext|fptrunc|fpext|fptosi|fptoui|sitofp|uitofp|bitcast)((?: [a-z]+)*?) {_T} {_OPERAND} to {_T}")
_COMPARE = re.compile(rf"([if]cmp(?: [a-z]+)*? [a-z]+) {_T} {_OPERAND}, {_OPERAND}")
_SELECT = re.compile(rf"select((?: [a-z]+)*?) i1 {_OPERAND}, {_T} {_OPERAND}, {_T} {_OPERAND}")
_CALL = re.compile(rf"call((?: [a-z]+)*?) {_T} @([\w.]+)\((.*)\)")
_ARGUMENT = re.compile(rf"{_T} {_OPERAND}(?:, |$)")
PARAMETER = re.compile(r"%(a|table|scratch|slot)\d*|@[\w.]+")  # what a place may be part of: no two of them overlap
NAME = re.compile(r"%[\w.]+")
_ADDRESS = re.compile(rf"getelementptr inbounds {_T}, ptr {_OPERAND}, i64 {_OPERAND}")
_LOAD = re.compile(rf"load {_T}, ptr {_OPERAND}(?:, align (\d+))?")
_STORE = re.compile(rf"  store {_T} {_OPERAND}, ptr {_OPERAND}(?:, align (\d+))?")
POINTER = re.compile(r"  (%[\w.]+) = getelementptr inbounds \w+, ptr ([%@][\w.]+), ")
VALUE = re.compile(r"  (%[\w.]+) = (.*)")


def _starting(pattern: re.Pattern[str], *words: str) -> Callable[[str], re.Match[str] | None]:
    """A match of the whole text, asked for only where the text begins with one of the words."""
    return lambda text: pattern.fullmatch(text) if text.startswith(words) else None


match_binary = _starting(_BINARY, "fadd", "fsub", "fmul", "fdiv", "frem", "add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr")
match_negate = _starting(_NEGATE, "fneg")
match_cast = _starting(_CAST, "trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp", "bitcast")
match_compare = _starting(_COMPARE, "icmp", "fcmp")
match_select = _starting(_SELECT, "select")
match_call = _starting(_CALL, "call")
match_address = _starting(_ADDRESS, "getelementptr")
match_load = _starting(_LOAD, "load")
match_store = _starting(_STORE, "  store")
_FUNCTION = re.compile(rf"define internal {_T} @(\w+)\(([^)]*)\) (.*)\{{")
_INTRINSICS = frozenset((
    "fma", "maximum", "minimum", "maxnum", "minnum", "fabs", "copysign", "sqrt", "floor", "ceil", "trunc", "rint", "roundeven", "nearbyint",
    "smax", "smin", "umax", "umin", "ctpop", "bitreverse", "bswap", "fshl", "fshr",
))  # fmt: skip
_OF_VALUE_AND_FLAG = frozenset(("abs", "ctlz", "cttz"))


@dataclass(slots=True)
class VectorizedKernel:
    """lines, origins: the body. declarations: of intrinsics. functions: names of the vector functions it calls, with their lanes.

    lanes: of each loop in vectors, in order. left: labels of the loops that stay scalar, with the reason.
    """

    lines: list[str]
    origins: list[int | None]
    declarations: dict[str, None] = field(default_factory=dict)
    functions: dict[tuple[str, int], None] = field(default_factory=dict)
    lanes: list[int] = field(default_factory=list)
    left: dict[str, Reason] = field(default_factory=dict)

    def append(self, other: VectorizedKernel) -> None:
        """What is behind these lines."""
        self.lines += other.lines
        self.origins += other.origins
        self.declarations.update(other.declarations)
        self.functions.update(other.functions)


def result_type(text: str) -> str | None:
    """The type of a value that may become a vector; None for what may not."""
    if (m := match_load(text)) is not None:
        return m[1]
    if (m := match_binary(text)) is not None:
        return m[3]
    if (m := match_cast(text)) is not None:
        return m[5]
    if match_compare(text) is not None:
        return "i1"
    if (m := match_select(text)) is not None:
        return m[3]
    if (m := match_negate(text)) is not None or (m := match_call(text)) is not None:
        return m[2]
    return None


def overload(t: str) -> str:
    """An LLVM type in the name of an intrinsic: `f32`, `v16f32`."""
    found = re.fullmatch(r"<(\d+) x (\w+)>", t)
    return f"v{found[1]}{overload(found[2])}" if found else _SUFFIX.get(t, t)


def vector_instruction(text: str, lanes: int, of: Callable[[str, str], str], kernel: VectorizedKernel) -> str:
    """A scalar instruction (without its name) in vectors. of(type, operand): the operand as a vector."""

    def v(t: str) -> str:
        return f"<{lanes} x {t}>"

    if (m := match_binary(text)) is not None:
        if m[1] in ("div", "rem", "frem") or m[1] in ("sdiv", "udiv"):
            raise RefusedLoop("no-vector-form", text)
        return f"{m[1]}{m[2]} {v(m[3])} {of(m[3], m[4])}, {of(m[3], m[5])}"
    if (m := match_negate(text)) is not None:
        return f"fneg{m[1]} {v(m[2])} {of(m[2], m[3])}"
    if (m := match_cast(text)) is not None:
        return f"{m[1]}{m[2]} {v(m[3])} {of(m[3], m[4])} to {v(m[5])}"
    if (m := match_compare(text)) is not None:
        return f"{m[1]} {v(m[2])} {of(m[2], m[3])}, {of(m[2], m[4])}"
    if (m := match_select(text)) is not None:
        return f"select{m[1]} {v('i1')} {of('i1', m[2])}, {v(m[3])} {of(m[3], m[4])}, {v(m[5])} {of(m[5], m[6])}"
    m = match_call(text)
    if m is None:
        raise RefusedLoop("no-vector-form", text)
    arguments = _ARGUMENT.findall(m[4])
    if ", ".join([f"{t} {value}" for t, value in arguments]) != m[4]:
        raise RefusedLoop("no-vector-form", text)
    if m[3].startswith("xe_"):
        kernel.functions[m[3], lanes] = None
        return f"call{m[1]} {v(m[2])} @{m[3]}.v{lanes}({', '.join([f'{v(t)} {of(t, value)}' for t, value in arguments])})"
    parts = m[3].split(".")
    if len(parts) != 3 or parts[0] != "llvm":
        raise RefusedLoop("no-vector-form", f"@{m[3]} is called", function=m[3])
    flagged = parts[1] in _OF_VALUE_AND_FLAG
    if not flagged and parts[1] not in _INTRINSICS:
        raise RefusedLoop("no-vector-form", f"@{m[3]} is called", function=m[3])
    name = f"llvm.{parts[1]}.{overload(v(m[2]))}"
    given = [f"{v(t)} {of(t, value)}" for t, value in (arguments[:1] if flagged else arguments)]
    types = [v(t) for t, _ in (arguments[:1] if flagged else arguments)]
    if flagged:
        given.append(f"{arguments[1][0]} {arguments[1][1]}")
        types.append(arguments[1][0])
    kernel.declarations[f"declare {v(m[2])} @{name}({', '.join(types)})"] = None
    return f"call{m[1]} {v(m[2])} @{name}({', '.join(given)})"


class VectorFunctions:
    """The vector forms of mathematical functions that the kernels of a program call. lines: their text."""

    def __init__(self, fused_multiply_add: bool) -> None:
        self.lines: list[str] = []
        self.declarations: dict[str, None] = {}
        self._fused_multiply_add = fused_multiply_add
        self._known: dict[tuple[str, int], bool] = {}

    def has(self, wanted: Iterable[tuple[str, int]]) -> bool:
        """Write the functions and all that they call; False when one of them has branches or tables."""
        missing = [key for key in wanted if key not in self._known]
        if missing:
            bodies = _bodies(vector_math_module(tuple(dict.fromkeys(name for name, _ in missing)), self._fused_multiply_add))
            for name, lanes in missing:
                self._add(name, lanes, bodies)
        return all(self._known[key] for key in wanted)

    def _add(self, name: str, lanes: int, bodies: dict[str, list[str]]) -> None:
        if (name, lanes) in self._known:
            return
        found = VectorizedKernel([], [])
        try:
            _vector_function(name, bodies[name], lanes, found)
        except RefusedLoop:
            self._known[name, lanes] = False
            return
        self._known[name, lanes] = True
        for inner, _ in found.functions:
            self._add(inner, lanes, bodies)
            self._known[name, lanes] &= self._known[inner, lanes]
        if self._known[name, lanes]:
            self.lines += found.lines
            self.declarations.update(found.declarations)


def _bodies(text: str) -> dict[str, list[str]]:
    """The lines of each function of a text, without the closing brace."""
    bodies: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if (m := _FUNCTION.fullmatch(line)) is not None:
            current = bodies[m[2]] = [line]
        elif line == "}":
            current = None
        elif current is not None:
            current.append(line)
    return bodies


def _vector_function(name: str, body: list[str], lanes: int, found: VectorizedKernel) -> None:
    header = _FUNCTION.fullmatch(body[0])
    assert header is not None
    parameters = _ARGUMENT.findall(header[3])

    def of(t: str, operand: str) -> str:
        return operand if operand.startswith("%") else f"splat ({t} {operand})"

    given = ", ".join([f"<{lanes} x {t}> {value}" for t, value in parameters])
    lines = [f"define internal <{lanes} x {header[1]}> @{name}.v{lanes}({given}) {header[4]}{{"]
    for line in body[1:]:
        value = VALUE.fullmatch(line)
        if value is not None:
            lines.append(f"  {value[1]} = {vector_instruction(value[2], lanes, of, found)}")
        elif (m := re.fullmatch(rf"  ret {_T} {_OPERAND}", line)) is not None:
            lines.append(f"  ret <{lanes} x {m[1]}> {of(m[1], m[2])}")
        else:
            raise RefusedLoop("function-has-branches", name)
    found.lines += [*lines, "}", ""]
