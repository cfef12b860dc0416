"""Innermost loops of a finished kernel, rewritten with vectors: the text that LLVM's loop vectoriser would make of them.

LLVM's optimiser takes longer over a long straight-line loop than its code generator (0.6 of the compile time of a fusion with a thousand
operations). Our loops are regular: one block, an index that counts up by one, addresses that are linear in it, no branch. Here every
value of such a loop becomes uniform (computed before the loop), linear in the index (stays a scalar, that of the first lane) or
varying (a vector), and reductions in a stack slot become vector accumulators. What is left needs no optimiser.

A number of iterations that the vectors do not divide costs one more iteration, moved back so that it ends where the loop ends; lanes
that were done before are masked. Anything else (branches, gathers, strides, mutable slots) is refused, and LLVM gets the scalar loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xla_explorer.compiler.codegen.function_writer import NO_UNROLL, NO_UNROLL_METADATA, NO_VECTOR, NO_VECTOR_METADATA
from xla_explorer.compiler.codegen.kernels.kernel import Kernel
from xla_explorer.compiler.codegen.target import CodegenTarget
from xla_explorer.compiler.codegen.vector_math import vector_math_module

WORTH_LINES = 60  # lines of a program's kernels, functions included, from which LLVM's optimiser costs more than it is worth
MATH_LINES = 25  # about those of a mathematical function
FEW_LINES = 12  # a vector loop shorter than this is repeated, so that its own arithmetic does not count
FEW_ITERATIONS = 16  # of a loop that may stay scalar in a kernel whose other loops are in vectors
FEW_ITERATIONS_ONCE = 128  # the same, of a loop that is in no other loop
FEWEST_LANES = 4  # a vector is made narrower down to this for a loop with few iterations
INTERLEAVED = 4  # so many times; several accumulators hide the latency of their additions
UNIFORM_CONDITIONS = 2  # selects by a condition that holds for the whole loop; of more LLVM makes loops without them, which are faster

_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "float": 32, "double": 64}
_FLOAT = {"half", "float", "double"}
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_T = r"(i1|i8|i16|i32|i64|half|float|double)"
_OPERAND = r"(%[\w.]+|[^\s,]+)"
_PHI = re.compile(r"  (%\w+) = phi i64 \[ (\S+), %([\w.]+) \], \[ (%\w+), %([\w.]+) \]")
_LABEL = re.compile(r"([\w.]+):")
_STEP = re.compile(r"  (%\w+) = add nuw nsw i64 (%\w+), 1")
_BOUND = re.compile(r"  (%\w+) = icmp (slt|ne) i64 (%\w+), (\S+)")
_BACK = re.compile(r"  br i1 (%\w+), label %([\w.]+), label %([\w.]+)(, !llvm\.loop !(\d+))?")
_BINARY = re.compile(rf"(f?(?:add|sub|mul|div|rem)|and|or|xor|shl|lshr|ashr)((?: [a-z]+)*?) {_T} {_OPERAND}, {_OPERAND}")
_NEGATE = re.compile(rf"fneg((?: [a-z]+)*?) {_T} {_OPERAND}")
_CAST = re.compile(rf"(trunc|zext|sext|fptrunc|fpext|fptosi|fptoui|sitofp|uitofp|bitcast)((?: [a-z]+)*?) {_T} {_OPERAND} to {_T}")
_COMPARE = re.compile(rf"([if]cmp(?: [a-z]+)*? [a-z]+) {_T} {_OPERAND}, {_OPERAND}")
_SELECT = re.compile(rf"select((?: [a-z]+)*?) i1 {_OPERAND}, {_T} {_OPERAND}, {_T} {_OPERAND}")
_CALL = re.compile(rf"call((?: [a-z]+)*?) {_T} @([\w.]+)\((.*)\)")
_ARGUMENT = re.compile(rf"{_T} {_OPERAND}(?:, |$)")
_PARAMETER = re.compile(r"%(a|table|scratch|slot)\d*")
_NAME = re.compile(r"%[\w.]+")
_ADDRESS = re.compile(rf"getelementptr inbounds {_T}, ptr {_OPERAND}, i64 {_OPERAND}")
_LOAD = re.compile(rf"load {_T}, ptr {_OPERAND}(?:, align (\d+))?")
_STORE = re.compile(rf"  store {_T} {_OPERAND}, ptr {_OPERAND}(?:, align (\d+))?")
_POINTER = re.compile(r"  (%[\w.]+) = getelementptr inbounds \w+, ptr ([%@][\w.]+), ")
_VALUE = re.compile(r"  (%[\w.]+) = (.*)")


def _starting(pattern: re.Pattern[str], *words: str) -> Callable[[str], re.Match[str] | None]:
    """A match of the whole text, asked for only where the text begins with one of the words."""
    return lambda text: pattern.fullmatch(text) if text.startswith(words) else None


_binary = _starting(_BINARY, "fadd", "fsub", "fmul", "fdiv", "frem", "add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr")
_negate = _starting(_NEGATE, "fneg")
_cast = _starting(_CAST, "trunc", "zext", "sext", "fptrunc", "fpext", "fptosi", "fptoui", "sitofp", "uitofp", "bitcast")
_compare = _starting(_COMPARE, "icmp", "fcmp")
_select = _starting(_SELECT, "select")
_call = _starting(_CALL, "call")
_address = _starting(_ADDRESS, "getelementptr")
_load = _starting(_LOAD, "load")
_store = _starting(_STORE, "  store")
_FUNCTION = re.compile(rf"define internal {_T} @(\w+)\(([^)]*)\) (.*)\{{")
_INTRINSICS = frozenset((
    "fma", "maximum", "minimum", "maxnum", "minnum", "fabs", "copysign", "sqrt", "floor", "ceil", "trunc", "rint", "roundeven", "nearbyint",
    "smax", "smin", "umax", "umin", "ctpop", "bitreverse", "bswap", "fshl", "fshr",
))  # fmt: skip
_OF_VALUE_AND_FLAG = frozenset(("abs", "ctlz", "cttz"))
_IDEMPOTENT = {"maximum": "fmaximum", "minimum": "fminimum", "maxnum": "fmax", "minnum": "fmin", "smax": "smax", "smin": "smin",
               "umax": "umax", "umin": "umin", "and": "and", "or": "or"}  # fmt: skip
_NEUTRAL = {"fadd": "-0.0", "fmul": "1.0", "add": "0", "mul": "1", "xor": "0"}


class _Refused(Exception):
    """This loop stays as it is."""


@dataclass(slots=True)
class _Reduction:
    slot: str
    type: str
    load: str = ""  # the value before, in the scalar loop
    operation: str = ""  # fadd, maximum ...
    flags: str = ""
    phis: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


@dataclass(slots=True)
class VectorizedKernel:
    """lines, origins: the body. declarations: of intrinsics. functions: names of the vector functions it calls, with their lanes."""

    lines: list[str]
    origins: list[int | None]
    declarations: dict[str, None] = field(default_factory=dict)
    functions: dict[tuple[str, int], None] = field(default_factory=dict)

    def append(self, other: VectorizedKernel) -> None:
        """What is behind these lines."""
        self.lines += other.lines
        self.origins += other.origins
        self.declarations.update(other.declarations)
        self.functions.update(other.functions)


def worth_vectorizing(kernels: Sequence[Kernel]) -> bool:
    """Whether LLVM's optimiser would have much to do: the lines of the kernels' loops, and of the functions they call."""
    total = 0
    for made in kernels:
        if is_written(made):
            continue
        total += len(made.lines) + sum([MATH_LINES for line in made.lines if "@xe_" in line])
    return total >= WORTH_LINES


def is_written(made: Kernel) -> bool:
    """Whether the writer of a kernel chose the vectors itself."""
    return any(line.endswith(NO_UNROLL) for line in made.lines)


def is_scalar(made: Kernel) -> bool:
    """Whether the writer of a kernel says that most of its loops are scalar by their nature."""
    return any(line.endswith(NO_VECTOR) for line in made.lines)


def in_vectors(made: Kernel, target: CodegenTarget, library: VectorFunctions) -> Kernel:
    """The kernel with its loops in vectors (all of them, but where most are scalar by their nature), or as it was.

    Its parameters must not overlap.
    """
    if is_written(made):
        return made
    modes = ("some",) if is_scalar(made) else ("all", "most")
    for mode in modes:
        found = vectorized_kernel(made.lines, made.origins, target, mode)
        if found is not None and library.has(found.functions):
            break
    else:
        return made
    metadata = NO_UNROLL_METADATA if mode == "all" else NO_VECTOR_METADATA
    still_called = tuple([name for name in made.math if any(f"@{name}(" in line for line in found.lines)])  # outside the innermost loops
    return made._replace(
        lines=tuple(found.lines), origins=tuple(found.origins), math=still_called,
        declarations=tuple(dict.fromkeys((*made.declarations, *found.declarations, *library.declarations))),
        globals=tuple(dict.fromkeys((*made.globals, *metadata))),
    )  # fmt: skip


def vectorized_kernel(lines: tuple[str, ...], origins: tuple[int | None, ...], target: CodegenTarget,
                      mode: str = "all") -> VectorizedKernel | None:
    """The kernel with its innermost loops in vectors, or None.

    mode: `all` of them, and no other branches: LLVM has nothing left to do. `most`: those that stay have few iterations; LLVM still
    has to make registers of variables. `some`: those that can be; the writer of the kernel says that the others are scalar by nature.
    The pointer parameters must not overlap.
    """
    kernel = VectorizedKernel([], [])
    slots = {m.group(1) for line in lines if (m := re.match(r"  (%slot\d+) = alloca", line))}
    bases = {m[1]: m[2] for line in lines if (m := _POINTER.match(line))}
    metadata = NO_UNROLL if mode == "all" else NO_VECTOR
    position, found = 0, 0
    try:
        if mode == "all":
            _only_counted_loops(lines)
        elif mode == "most":
            _only_simple_loops(lines)
        while position < len(lines):
            end = _loop_end(lines, position)
            if end is not None and (mode == "all" or _BACK.fullmatch(lines[end - 1])[4] is None):  # type: ignore[index]
                loop = VectorizedKernel([], [])
                try:
                    _Loop(loop, lines[position:end], origins[position:end], slots, bases, target, lines, found, metadata).write()
                    kernel.append(loop)
                    found += 1
                    position = end
                    continue
                except _Refused:
                    if mode == "all":
                        raise
            if end is not None and mode == "most" and not _few_iterations(lines, position, end):
                return None
            kernel.lines.append(lines[position])
            kernel.origins.append(origins[position])
            position += 1
    except _Refused:
        return None
    return kernel if found and (mode == "all" or _marked(kernel)) else None


def _marked(kernel: VectorizedKernel) -> bool:
    """Mark a loop that stays, so that the kernel gets the short list of passes; False where there is none to mark."""
    loops = {line.removesuffix(":") for line, following in zip(kernel.lines, kernel.lines[1:], strict=False) if _PHI.fullmatch(following)}
    for number, line in enumerate(kernel.lines):
        back = _BACK.fullmatch(line)
        if back is not None and back[2] in loops and not back[4]:
            kernel.lines[number] = line + NO_VECTOR
            return True
    return any(line.endswith(NO_VECTOR) for line in kernel.lines)


def _few_iterations(lines: tuple[str, ...], position: int, end: int) -> bool:
    phi, bound = _PHI.fullmatch(lines[position + 1]), _BOUND.fullmatch(lines[end - 2])
    if phi is None or bound is None or not phi[2].isdigit() or not bound[4].isdigit():
        return False
    before = {label[1] for line in lines[:position] if (label := _LABEL.fullmatch(line))}
    repeated = any((back := _BACK.fullmatch(line)) and back[2] in before for line in lines[end:])
    return int(bound[4]) - int(phi[2]) <= (FEW_ITERATIONS if repeated else FEW_ITERATIONS_ONCE)


def _only_simple_loops(lines: tuple[str, ...]) -> None:
    """_Refused for loops around a choice, and for those that do not count: LLVM may do something about them."""
    seen: set[str] = set()
    innermost: list[list[bool]] = []  # for each loop that is open, whether it has a loop inside, and whether it has a choice
    labels: list[str] = []
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        label = _LABEL.fullmatch(line)
        if label is not None:
            seen.add(label[1])
            if _PHI.fullmatch(following):
                labels.append(label[1])
                innermost.append([False, False])
        elif (back := _BACK.fullmatch(line)) is not None and labels and back[2] == labels[-1]:
            labels.pop()
            has_loop, has_choice = innermost.pop()
            if has_choice and not has_loop:
                raise _Refused
            if innermost:
                innermost[-1][0] = True
        elif line.startswith(("  br i1", "  switch")):
            if innermost:
                innermost[-1][1] = True
        elif line.startswith("  br label %") and line[12:] in seen:
            raise _Refused


def _only_counted_loops(lines: tuple[str, ...]) -> None:
    """_Refused for branches that do not close a loop: what they decide is for LLVM, as are the slots that such loops live in."""
    seen = set()
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        label = _LABEL.fullmatch(line)
        if label is not None and _PHI.fullmatch(following):
            seen.add(label[1])
        elif line.startswith(("  br i1", "  switch")):
            back = _BACK.fullmatch(line)
            if back is None or back[2] not in seen:
                raise _Refused


def _loop_end(lines: tuple[str, ...], position: int) -> int | None:
    """The line behind the branch back, for a loop of one block whose label is at `position`."""
    label = _LABEL.fullmatch(lines[position])
    if label is None or position + 1 >= len(lines) or _PHI.fullmatch(lines[position + 1]) is None:
        return None
    for at in range(position + 2, len(lines)):
        line = lines[at]
        if line.startswith("  br ") or line.startswith("  switch "):
            back = _BACK.fullmatch(line)
            if back is None or back[2] != label[1]:
                return None
            return at + 1
        if _LABEL.fullmatch(line):
            return None
    return None


class _Loop:
    """One loop on its way into vectors."""

    def __init__(self, kernel: VectorizedKernel, lines: tuple[str, ...], origins: tuple[int | None, ...], slots: set[str],
                 bases: dict[str, str], target: CodegenTarget, everything: tuple[str, ...], number: int, metadata: str) -> None:
        self.metadata = metadata
        self.kernel, self.lines, self.origins, self.slots, self.number = kernel, lines, origins, slots, number
        self.target, self.bases = target, bases
        label, phi = _LABEL.fullmatch(lines[0]), _PHI.fullmatch(lines[1])
        assert label is not None and phi is not None
        self.label, self.index, self.start, self.before = label[1], phi[1], phi[2], phi[3]
        if phi[5] != self.label:
            raise _Refused
        step, bound, back = (p.fullmatch(line) for p, line in zip((_STEP, _BOUND, _BACK), lines[-3:], strict=True))
        if step is None or bound is None or back is None or step[2] != self.index or step[1] != phi[4] or bound[3] != phi[4]:
            raise _Refused
        if back[4]:
            raise _Refused  # its writer has other plans for it
        self.exit = back[3]
        self.iterations = self._iterations(bound[4], everything)
        self.body = [(line, origin) for line, origin in zip(lines[2:-3], origins[2:-3], strict=True)]
        self.inside: set[str] = {m.group(1) for line, _ in self.body if (m := _VALUE.fullmatch(line))} | {self.index}
        self.linear: dict[str, int] = {self.index: 1}  # i64 values, with what they grow by from lane to lane
        self.uniform: set[str] = set()
        self.offsets: dict[str, int] = {self.index: 0}  # of linear values that are the index plus a constant
        self.places: dict[str, tuple[str, str, int | None]] = {}  # pointer -> element type, base as written, offset
        self.addresses: dict[str, tuple[str, str, int]] = {}  # pointer -> element type, base, stride
        self.types: dict[str, str] = {}  # of varying values
        self.reductions: dict[str, _Reduction] = {}
        self.ahead: list[tuple[str, int | None]] = []
        self.splats: dict[tuple[str, str], str] = {}
        self.counter = 0
        self.lanes = 0

    def _iterations(self, bound: str, everything: tuple[str, ...]) -> int:
        if not self.start.startswith("%") and not bound.startswith("%"):
            return int(bound) - int(self.start)
        span = f"  {bound} = add nsw i64 {self.start}, "
        found = next((line for line in everything if line.startswith(span)), "")
        if not found[len(span):].isdigit():
            raise _Refused
        return int(found[len(span):])

    # -- what each value is --------------------------------------------------------------------------------------------
    def _classify(self) -> list[tuple[str, int | None]]:
        """The lines that stay in the loop; those of uniform values move ahead of it, equal ones are one."""
        kept: list[tuple[str, int | None]] = []
        written = {self._base(m[3]) for line, _ in self.body if (m := _store(line)) and m[3] not in self.slots}
        self._find_reductions()
        same: dict[str, str] = {}
        known: dict[str, str] = {}
        for line, origin in self.body:
            if same:
                line = _NAME.sub(lambda m: same.get(m[0], m[0]), line)
            if _store(line):
                kept.append((line, origin))
                continue
            value = _VALUE.fullmatch(line)
            if value is None:
                raise _Refused
            name, text = value[1], value[2]
            load = _load(text)
            if load is None or (load[2] not in self.slots and self._base(load[2]) not in written):
                if text in known:
                    same[name] = known[text]
                    continue
                known[text] = name
            if all(self._is_uniform(o) for o in _NAME.findall(text)) and "call" not in text and (load is None or load[2] not in self.slots):
                if load is not None and self._base(load[2]) in written:
                    raise _Refused  # a place that the loop also writes
                self.uniform.add(name)
                self.ahead.append((line, origin))
                continue
            self._note(name, text)
            kept.append((line, origin))
        self._same_places(kept)
        selects = {m[2] for line, _ in kept if (v := _VALUE.fullmatch(line)) and (m := _select(v[2])) and m[2] in self.uniform}
        if len(selects) > UNIFORM_CONDITIONS:
            raise _Refused
        return kept

    def _same_places(self, kept: list[tuple[str, int | None]]) -> None:
        """_Refused unless what the loop writes is read, if at all, at the very place: then no iteration sees what another wrote."""
        stores = [m[3] for line, _ in kept if (m := _store(line)) and m[3] not in self.slots]
        loads = [m[2] for line, _ in kept if (v := _VALUE.fullmatch(line)) and (m := _load(v[2])) and m[2] not in self.slots]
        for number, store in enumerate(stores):
            if store not in self.addresses:
                raise _Refused
            base = self.addresses[store][1]
            if not _PARAMETER.fullmatch(base):
                raise _Refused
            for other in (*loads, *stores[:number]):
                if other != store and (other not in self.addresses or (self.addresses[other][1] == base and not self._apart(store, other))):
                    raise _Refused

    def _apart(self, a: str, b: str) -> bool:
        """Whether two pointers of equal base, at constant distances from the index, never meet while the loop runs."""
        (t, base, x), (u, other, y) = self.places.get(a, ("", "", None)), self.places.get(b, ("", "", None))
        return t == u and base == other and x is not None and y is not None and abs(x - y) >= self.iterations

    def _base(self, pointer: str) -> str:
        """The parameter that a pointer points into."""
        while pointer in self.bases:
            pointer = self.bases[pointer]
        return pointer

    def _note(self, name: str, text: str) -> None:
        binary = _binary(text)
        if binary is not None and binary[3] == "i64" and binary[1] in ("add", "sub", "mul"):
            a, b = binary[4], binary[5]
            if (a in self.linear or self._is_uniform(a)) and (b in self.linear or self._is_uniform(b)):
                x, y = self.linear.get(a, 0), self.linear.get(b, 0)
                if binary[1] != "mul":
                    self.linear[name] = x + y if binary[1] == "add" else x - y
                    if a in self.offsets and binary[1] == "add" and b.isdigit():
                        self.offsets[name] = self.offsets[a] + int(b)
                    return
                if y == 0 and re.fullmatch(r"-?\d+", b):
                    self.linear[name] = x * int(b)
                    return
        address = _address(text)
        if address is not None:
            if not self._is_uniform(address[2]) or self.linear.get(address[3]) != 1:
                raise _Refused
            self.addresses[name] = address[1], self._base(address[2]), 1
            self.places[name] = address[1], address[2], self.offsets.get(address[3])
            return
        result = _result_type(text)
        if result is None:
            raise _Refused
        self.types[name] = result

    def _is_uniform(self, operand: str) -> bool:
        return not operand.startswith("%") or operand not in self.inside or operand in self.uniform

    def _find_reductions(self) -> None:
        """Slots that the loop loads once, combines with something and stores once."""
        values = [v for line, _ in self.body if (v := _VALUE.fullmatch(line))]
        loads = [(v[1], m) for v in values if (m := _load(v[2])) and m[2] in self.slots]
        stores = [m for line, _ in self.body if (m := _store(line)) and m[3] in self.slots]
        if len({m[2] for _, m in loads}) != len(loads) or sorted(m[2] for _, m in loads) != sorted(m[3] for m in stores):
            raise _Refused

        def using(name: str) -> list[str]:
            return [line for line, _ in self.body if name in _NAME.findall(line)]

        for name, load in loads:
            found = _Reduction(load[2], load[1], name)
            users = [line for line in using(name) if not line.startswith(f"  {name} = ")]
            stored = next(m[2] for m in stores if m[3] == load[2])
            value = _VALUE.fullmatch(users[0]) if len(users) == 1 else None
            if value is None or value[1] != stored:
                raise _Refused
            if (b := _binary(value[2])) is not None:
                found.operation, found.flags = b[1], b[2]
                if b[1].startswith("f") and "reassoc" not in b[2]:
                    raise _Refused
            elif (c := _call(value[2])) is not None and c[3].startswith("llvm."):
                found.operation, found.flags = c[3].split(".")[1], c[1]
            if found.operation not in _IDEMPOTENT and found.operation not in _NEUTRAL:
                raise _Refused
            if len(using(stored)) != 2 or value[2].count(name) != 1:
                raise _Refused
            self.reductions[stored] = found

    # -- writing -------------------------------------------------------------------------------------------------------
    def _fresh(self, stem: str = "w") -> str:
        self.counter += 1
        return f"%{stem}{self.number}.{self.counter}"

    def _vector(self, t: str) -> str:
        return f"<{self.lanes} x {t}>"

    def _splat(self, t: str, operand: str) -> str:
        """A scalar in all lanes."""
        if not operand.startswith("%"):
            return f"splat ({t} {operand})" if operand != "poison" else "poison"
        if (t, operand) not in self.splats:
            first, all_ = self._fresh("s"), self._fresh("s")
            vector = self._vector(t)
            self.ahead.append((f"  {first} = insertelement {vector} poison, {t} {operand}, i64 0", None))
            self.ahead.append((f"  {all_} = shufflevector {vector} {first}, {vector} poison, <{self.lanes} x i32> zeroinitializer", None))
            self.splats[t, operand] = all_
        return self.splats[t, operand]

    def write(self) -> None:
        """Append the loop in vectors to the kernel."""
        kept = self._classify()
        widths = [_BITS[t] for t in self.types.values()] + [_BITS[self.addresses[a][0]] for a in self.addresses]
        if not widths or max(widths) == 1:
            raise _Refused
        self.lanes = max(self.target.vector_bits // max(widths), 2)
        while self.lanes > max(self.iterations, FEWEST_LANES):
            self.lanes //= 2
        if self.iterations < self.lanes:
            raise _Refused
        copies = INTERLEAVED if len(kept) <= FEW_LINES or (self.reductions and len(kept) <= 3 * FEW_LINES) else 1
        if any("call" in line and "@xe_" in line for line, _ in kept):
            copies = 2 if self.reductions else 1
        while copies > 1 and (self.lanes * copies > self.iterations or self.iterations % (self.lanes * copies) >= self.lanes):
            copies //= 2
        step = self.lanes * copies
        rest = self.iterations % step
        label, end = self.label, self.iterations - rest + (step if rest else 0)
        inner: list[tuple[str, int | None]] = []
        counter, following = f"%k{self.number}.at", f"%k{self.number}.next"
        once = end == step  # no loop at all
        first = "0" if once else counter
        if rest and not once:
            first = f"%k{self.number}.first"
            self.kernel.declarations["declare i64 @llvm.smin.i64(i64, i64)"] = None
            inner.append((f"  {first} = call i64 @llvm.smin.i64(i64 {counter}, i64 {self.iterations - step})", None))
        inner.append((f"  {self.index} = add nsw i64 {first}, {self.start}", None))
        new_lanes = self._mask(inner, counter, first, copies) if rest and not once else None
        for reduction in self.reductions.values():
            reduction.phis = [self._fresh("acc") for _ in range(copies)]
        for copy in range(copies):
            self._copy(kept, copy, inner, new_lanes[copy] if new_lanes else None)
        self._append(f"{label}:", None)
        for line, origin in self.ahead:
            self._append(line, origin)
        starts = [self._initial(r) for r in self.reductions.values()]
        if once:
            self._once(inner, starts)
            return
        self._append(f"  br label %{label}.vector", None)
        self._append(f"{label}.vector:", None)
        self._append(f"  {counter} = phi i64 [ 0, %{label} ], [ {following}, %{label}.vector ]", None)
        for reduction, start in zip(self.reductions.values(), starts, strict=True):
            for phi, result in zip(reduction.phis, reduction.results, strict=True):
                self._append(f"  {phi} = phi {self._vector(reduction.type)} [ {start}, %{label} ], [ {result}, %{label}.vector ]", None)
        for line, origin in inner:
            self._append(line, origin)
        done = self._fresh("done")
        self._append(f"  {following} = add nuw nsw i64 {counter}, {step}", None)
        self._append(f"  {done} = icmp ne i64 {following}, {end}", None)
        self._append(f"  br i1 {done}, label %{label}.vector, label %{label}.after{self.metadata}", None)
        self._append(f"{label}.after:", None)
        for reduction in self.reductions.values():
            self._finish(reduction)
        self._append(f"  br label %{self.exit}", None)

    def _once(self, inner: list[tuple[str, int | None]], starts: list[str]) -> None:
        """One time around the loop is straight code."""
        initial = {phi: start for r, start in zip(self.reductions.values(), starts, strict=True) for phi in r.phis}
        for line, origin in inner:
            self._append(_NAME.sub(lambda m: initial.get(m[0], m[0]), line) if initial else line, origin)
        for reduction in self.reductions.values():
            self._finish(reduction)
        self._append(f"  br label %{self.exit}", None)

    def _append(self, line: str, origin: int | None) -> None:
        self.kernel.lines.append(line)
        self.kernel.origins.append(origin)

    def _mask(self, inner: list[tuple[str, int | None]], counter: str, first: str, copies: int) -> list[str]:
        """For each copy, which lanes the iterations before have not done: all but for the last time."""
        done, small = self._fresh("m"), self._fresh("m")
        inner.append((f"  {done} = sub nsw i64 {counter}, {first}", None))
        inner.append((f"  {small} = trunc i64 {done} to i32", None))
        one, all_ = self._fresh("m"), self._fresh("m")
        vector = self._vector("i32")
        inner.append((f"  {one} = insertelement {vector} poison, i32 {small}, i64 0", None))
        inner.append((f"  {all_} = shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer", None))
        masks = []
        for copy in range(copies):
            numbers = ", ".join([f"i32 {copy * self.lanes + lane}" for lane in range(self.lanes)])
            masks.append(self._fresh("m"))
            inner.append((f"  {masks[-1]} = icmp sle {vector} {all_}, <{numbers}>", None))
        return masks

    def _copy(self, kept: list[tuple[str, int | None]], copy: int, out: list[tuple[str, int | None]], mask: str | None) -> None:
        names: dict[str, str] = {}
        for reduction in self.reductions.values():
            names[reduction.load] = reduction.phis[copy]
        in_place = {self.addresses[m[2]][1] for line, _ in kept
                    if (v := _VALUE.fullmatch(line)) and (m := _load(v[2])) and m[2] in self.addresses}

        def at(pointer: str) -> str:
            if copy == 0:
                return pointer
            name = f"{pointer}.{copy}"
            if pointer not in names:
                names[pointer] = name
                offset = f"ptr {pointer}, i64 {copy * self.lanes}"
                out.append((f"  {name} = getelementptr inbounds {self.addresses[pointer][0]}, {offset}", None))
            return name

        def of(t: str, operand: str) -> str:
            if operand in names:
                return names[operand]
            if operand in self.types:
                raise AssertionError(f"{operand} is used before it is written")
            if operand in self.linear or operand in self.addresses:
                raise _Refused
            return self._splat(t, operand)

        for line, origin in kept:
            if (m := _store(line)) is not None:
                if m[3] in self.slots:
                    continue
                if m[3] not in self.addresses or self.addresses[m[3]][0] != m[1]:
                    raise _Refused
                value, align = of(m[1], m[2]), m[4] or str(_BITS[m[1]] // 8)
                pointer = at(m[3])
                if mask is not None and self.addresses[m[3]][1] in in_place:
                    # What an earlier iteration wrote is not computed again, for it is computed from itself.
                    before, chosen = self._fresh(), self._fresh()
                    out.append((f"  {before} = load {self._vector(m[1])}, ptr {pointer}, align {align}", origin))
                    both = f"{self._vector(m[1])} {value}, {self._vector(m[1])} {before}"
                    out.append((f"  {chosen} = select {self._vector('i1')} {mask}, {both}", origin))
                    value = chosen
                out.append((f"  store {self._vector(m[1])} {value}, ptr {pointer}, align {align}", origin))
                continue
            found = _VALUE.fullmatch(line)
            assert found is not None
            name, text = found[1], found[2]
            if name in self.linear or name in self.addresses:
                if copy == 0:
                    out.append((line, origin))
                continue
            if any(name == r.load for r in self.reductions.values()):
                continue
            if (m := _load(text)) is not None:
                if m[2] not in self.addresses or self.addresses[m[2]][0] != m[1]:
                    raise _Refused
                rewritten = f"load {self._vector(m[1])}, ptr {at(m[2])}, align {m[3] or _BITS[m[1]] // 8}"
            elif (m := _cast(text)) is not None and m[1] == "trunc" and m[5] == "i32" and self.linear.get(m[4]) == 1:
                rewritten = self._numbers(m[4], copy, out, origin)
            else:
                rewritten = vector_instruction(text, self.lanes, of, self.kernel)
            names[name] = f"{name}.v{copy}" if copy else f"{name}.v"
            out.append((f"  {names[name]} = {rewritten}", origin))
            if name in self.reductions:
                reduction = self.reductions[name]
                if mask is not None and reduction.operation not in _IDEMPOTENT:
                    chosen, vector = self._fresh(), self._vector(reduction.type)
                    out.append((f"  {chosen} = select {self._vector('i1')} {mask}, {vector} {names[name]}, {vector} {reduction.phis[copy]}",
                                origin))
                    names[name] = chosen
                reduction.results.append(names[name])

    def _numbers(self, linear: str, copy: int, out: list[tuple[str, int | None]], origin: int | None) -> str:
        """A linear value of each lane, in 32 bits."""
        small, one, all_ = self._fresh(), self._fresh(), self._fresh()
        vector = self._vector("i32")
        numbers = ", ".join([f"i32 {copy * self.lanes + lane}" for lane in range(self.lanes)])
        out.append((f"  {small} = trunc i64 {linear} to i32", origin))
        out.append((f"  {one} = insertelement {vector} poison, i32 {small}, i64 0", origin))
        out.append((f"  {all_} = shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer", origin))
        return f"add {vector} {all_}, <{numbers}>"

    # -- reductions ----------------------------------------------------------------------------------------------------
    def _initial(self, r: _Reduction) -> str:
        """What the accumulators start with: what is neutral, or what is in the slot where it may count several times."""
        if r.operation in _NEUTRAL:
            return f"splat ({r.type} {_NEUTRAL[r.operation]})"
        first, one, all_ = self._fresh(), self._fresh(), self._fresh()
        vector = self._vector(r.type)
        self._append(f"  {first} = load {r.type}, ptr {r.slot}", None)
        self._append(f"  {one} = insertelement {vector} poison, {r.type} {first}, i64 0", None)
        self._append(f"  {all_} = shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer", None)
        return all_

    def _combine(self, r: _Reduction, t: str, a: str, b: str) -> str:
        name, declarations = self._fresh(), self.kernel.declarations
        if r.operation in _NEUTRAL or r.operation in ("and", "or"):
            self._append(f"  {name} = {r.operation}{r.flags} {t} {a}, {b}", None)
        else:
            intrinsic = f"llvm.{r.operation}.{_overload(t)}"
            declarations[f"declare {t} @{intrinsic}({t}, {t})"] = None
            self._append(f"  {name} = call{r.flags} {t} @{intrinsic}({t} {a}, {t} {b})", None)
        return name

    def _finish(self, r: _Reduction) -> None:
        """Accumulators to one, lanes to one, then with what the slot holds."""
        vector, total = self._vector(r.type), r.results[0]
        for other in r.results[1:]:
            total = self._combine(r, vector, total, other)
        kind = r.operation if r.operation in _NEUTRAL else _IDEMPOTENT[r.operation]
        intrinsic, start = f"llvm.vector.reduce.{kind}.{_overload(vector)}", ""
        if kind in ("fadd", "fmul"):
            start = f"{r.type} {_NEUTRAL[kind]}, "
        result, before = self._fresh(), self._fresh()
        self.kernel.declarations[f"declare {r.type} @{intrinsic}({r.type + ', ' if start else ''}{vector})"] = None
        flags = r.flags if r.type in _FLOAT else ""
        self._append(f"  {result} = call{flags} {r.type} @{intrinsic}({start}{vector} {total})", None)
        if r.operation in _NEUTRAL:
            self._append(f"  {before} = load {r.type}, ptr {r.slot}", None)
            result = self._combine(r, r.type, before, result)
        self._append(f"  store {r.type} {result}, ptr {r.slot}", None)


def _result_type(text: str) -> str | None:
    """The type of a value that may become a vector; None for what may not."""
    if (m := _load(text)) is not None:
        return m[1]
    if (m := _binary(text)) is not None:
        return m[3]
    if (m := _cast(text)) is not None:
        return m[5]
    if _compare(text) is not None:
        return "i1"
    if (m := _select(text)) is not None:
        return m[3]
    if (m := _negate(text)) is not None or (m := _call(text)) is not None:
        return m[2]
    return None


def _overload(t: str) -> str:
    """An LLVM type in the name of an intrinsic: `f32`, `v16f32`."""
    found = re.fullmatch(r"<(\d+) x (\w+)>", t)
    return f"v{found[1]}{_overload(found[2])}" if found else _SUFFIX.get(t, t)


def vector_instruction(text: str, lanes: int, of: Callable[[str, str], str], kernel: VectorizedKernel) -> str:
    """A scalar instruction (without its name) in vectors. of(type, operand): the operand as a vector."""

    def v(t: str) -> str:
        return f"<{lanes} x {t}>"

    if (m := _binary(text)) is not None:
        if m[1] in ("div", "rem", "frem") or m[1] in ("sdiv", "udiv"):
            raise _Refused
        return f"{m[1]}{m[2]} {v(m[3])} {of(m[3], m[4])}, {of(m[3], m[5])}"
    if (m := _negate(text)) is not None:
        return f"fneg{m[1]} {v(m[2])} {of(m[2], m[3])}"
    if (m := _cast(text)) is not None:
        return f"{m[1]}{m[2]} {v(m[3])} {of(m[3], m[4])} to {v(m[5])}"
    if (m := _compare(text)) is not None:
        return f"{m[1]} {v(m[2])} {of(m[2], m[3])}, {of(m[2], m[4])}"
    if (m := _select(text)) is not None:
        return f"select{m[1]} {v('i1')} {of('i1', m[2])}, {v(m[3])} {of(m[3], m[4])}, {v(m[5])} {of(m[5], m[6])}"
    m = _call(text)
    if m is None:
        raise _Refused
    arguments = _ARGUMENT.findall(m[4])
    if ", ".join([f"{t} {value}" for t, value in arguments]) != m[4]:
        raise _Refused
    if m[3].startswith("xe_"):
        kernel.functions[m[3], lanes] = None
        return f"call{m[1]} {v(m[2])} @{m[3]}.v{lanes}({', '.join([f'{v(t)} {of(t, value)}' for t, value in arguments])})"
    parts = m[3].split(".")
    if len(parts) != 3 or parts[0] != "llvm":
        raise _Refused
    flagged = parts[1] in _OF_VALUE_AND_FLAG
    if not flagged and parts[1] not in _INTRINSICS:
        raise _Refused
    name = f"llvm.{parts[1]}.{_overload(v(m[2]))}"
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
        except _Refused:
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
        value = _VALUE.fullmatch(line)
        if value is not None:
            lines.append(f"  {value[1]} = {vector_instruction(value[2], lanes, of, found)}")
        elif (m := re.fullmatch(rf"  ret {_T} {_OPERAND}", line)) is not None:
            lines.append(f"  ret <{lanes} x {m[1]}> {of(m[1], m[2])}")
        else:
            raise _Refused
    found.lines += [*lines, "}", ""]
