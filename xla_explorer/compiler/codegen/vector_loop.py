"""One innermost loop on its way into vectors; see `loop_vectorization`."""

from __future__ import annotations

from xla_explorer.compiler.codegen.counted_loop import IDEMPOTENT, OPCODES, CountedLoop, Reduction
from xla_explorer.compiler.codegen.loop_refusals import RefusedLoop
from xla_explorer.compiler.codegen.vector_instructions import (
    BITS,
    FLOATS,
    NAME,
    VALUE,
    VectorizedKernel,
    match_cast,
    match_load,
    match_store,
    overload,
    vector_instruction,
)
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.primitive_type import F16, F32, F64, S8, S16, S32, S64

_ELEMENT_TYPES = {"half": F16, "float": F32, "double": F64, "i8": S8, "i16": S16, "i32": S32, "i64": S64}

FEW_LINES = 12  # a vector loop shorter than this is repeated, so that its own arithmetic does not count
FEWEST_LANES = 4  # a vector is made narrower down to this for a loop with few iterations
INTERLEAVED = 4  # so many times; several accumulators hide the latency of their additions


class VectorLoop(CountedLoop):
    """One loop on its way into vectors."""

    def __init__(self, kernel: VectorizedKernel, lines: tuple[str, ...], origins: tuple[int | None, ...], slots: set[str],
                 bases: dict[str, str], target: Target, everything: tuple[str, ...], number: int, metadata: str) -> None:
        super().__init__(lines, origins, slots, bases, everything)
        self.kernel, self.target, self.number, self.metadata = kernel, target, number, metadata
        self.splats: dict[tuple[str, str], str] = {}
        self.counter = 0
        self.lanes = 0

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
        kept = self.classify()
        widths = [BITS[t] for t in self.types.values()] + [BITS[self.addresses[a][0]] for a in self.addresses]
        if not widths or max(widths) == 1:
            raise RefusedLoop("nothing-varies")
        self.lanes = max(self.target.vector.bits // max(widths), 2)
        while self.lanes > max(self.iterations, FEWEST_LANES):
            self.lanes //= 2
        if self.iterations < self.lanes:
            raise RefusedLoop("few-iterations", f"{self.iterations} of {self.lanes}", iterations=self.iterations, lanes=self.lanes)
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
        masking: list[tuple[str, int | None]] = []
        new_lanes = self._mask(masking, counter, first, copies) if rest and not once else None
        before = len(inner)
        for reduction in self.reductions.values():
            reduction.phis = [self._fresh("acc") for _ in range(copies)]
        for copy in range(copies):
            self._copy(kept, copy, inner, new_lanes[copy] if new_lanes else None)
        if new_lanes and any(new_lanes[0] in line for line, _ in inner):
            inner[before:before] = masking
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

    def _updates(self, kept: list[tuple[str, int | None]]) -> bool:
        """Whether some result takes the place of an operand. All of them may then be computed from what an earlier iteration wrote, those
        in memory of their own too."""
        in_place = {self.addresses[m[2]][1] for line, _ in kept
                    if (v := VALUE.fullmatch(line)) and (m := match_load(v[2])) and m[2] in self.addresses}
        return any((m := match_store(line)) and m[3] in self.addresses and self.addresses[m[3]][1] in in_place for line, _ in kept)

    def _once(self, inner: list[tuple[str, int | None]], starts: list[str]) -> None:
        """One time around the loop is straight code."""
        initial = {phi: start for r, start in zip(self.reductions.values(), starts, strict=True) for phi in r.phis}
        for line, origin in inner:
            self._append(NAME.sub(lambda m: initial.get(m[0], m[0]), line) if initial else line, origin)
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
        updates = self._updates(kept)

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
                raise RefusedLoop("index-as-value", operand)
            return self._splat(t, operand)

        for line, origin in kept:
            if (m := match_store(line)) is not None:
                if m[3] in self.slots:
                    continue
                if m[3] not in self.addresses or self.addresses[m[3]][0] != m[1]:
                    raise RefusedLoop("not-consecutive", line.strip())
                value, align = of(m[1], m[2]), m[4] or str(BITS[m[1]] // 8)
                pointer = at(m[3])
                if mask is not None and updates:
                    # What an earlier iteration wrote is not computed again, for it is computed from itself.
                    before, chosen = self._fresh(), self._fresh()
                    out.append((f"  {before} = load {self._vector(m[1])}, ptr {pointer}, align {align}", origin))
                    both = f"{self._vector(m[1])} {value}, {self._vector(m[1])} {before}"
                    out.append((f"  {chosen} = select {self._vector('i1')} {mask}, {both}", origin))
                    value = chosen
                out.append((f"  store {self._vector(m[1])} {value}, ptr {pointer}, align {align}", origin))
                continue
            found = VALUE.fullmatch(line)
            assert found is not None
            name, text = found[1], found[2]
            if name in self.linear or name in self.addresses:
                if copy == 0:
                    out.append((line, origin))
                continue
            if any(name == r.load for r in self.reductions.values()):
                continue
            if (m := match_load(text)) is not None:
                if m[2] not in self.addresses or self.addresses[m[2]][0] != m[1]:
                    raise RefusedLoop("not-consecutive", text)
                rewritten = f"load {self._vector(m[1])}, ptr {at(m[2])}, align {m[3] or BITS[m[1]] // 8}"
            elif (m := match_cast(text)) is not None and m[1] == "trunc" and m[5] == "i32" and self.linear.get(m[4]) == 1:
                rewritten = self._numbers(m[4], copy, out, origin)
            else:
                rewritten = vector_instruction(text, self.lanes, of, self.kernel)
            names[name] = f"{name}.v{copy}" if copy else f"{name}.v"
            out.append((f"  {names[name]} = {rewritten}", origin))
            if name in self.reductions:
                reduction = self.reductions[name]
                if mask is not None and (updates or reduction.operation not in IDEMPOTENT):
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
    def _initial(self, r: Reduction) -> str:
        """What the accumulators start with: the identity element, or what is in the slot where it may count several times."""
        if r.operation in OPCODES:
            return f"splat ({r.type} {self._identity(r)})"
        first, one, all_ = self._fresh(), self._fresh(), self._fresh()
        vector = self._vector(r.type)
        self._append(f"  {first} = load {r.type}, ptr {r.slot}", None)
        self._append(f"  {one} = insertelement {vector} poison, {r.type} {first}, i64 0", None)
        self._append(f"  {all_} = shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer", None)
        return all_

    def _identity(self, r: Reduction) -> str:
        """The identity element of a reduction, as LLVM writes it."""
        return str(identity_element(OPCODES[r.operation], _ELEMENT_TYPES[r.type]))

    def _combine(self, r: Reduction, t: str, a: str, b: str) -> str:
        name, declarations = self._fresh(), self.kernel.declarations
        if r.operation in OPCODES or r.operation in ("and", "or"):
            self._append(f"  {name} = {r.operation}{r.flags} {t} {a}, {b}", None)
        else:
            intrinsic = f"llvm.{r.operation}.{overload(t)}"
            declarations[f"declare {t} @{intrinsic}({t}, {t})"] = None
            self._append(f"  {name} = call{r.flags} {t} @{intrinsic}({t} {a}, {t} {b})", None)
        return name

    def _finish(self, r: Reduction) -> None:
        """Accumulators to one, lanes to one, then with what the slot holds."""
        vector, total = self._vector(r.type), r.results[0]
        for other in r.results[1:]:
            total = self._combine(r, vector, total, other)
        kind = r.operation if r.operation in OPCODES else IDEMPOTENT[r.operation]
        intrinsic, start = f"llvm.vector.reduce.{kind}.{overload(vector)}", ""
        if kind in ("fadd", "fmul"):
            start = f"{r.type} {self._identity(r)}, "
        result, before = self._fresh(), self._fresh()
        self.kernel.declarations[f"declare {r.type} @{intrinsic}({r.type + ', ' if start else ''}{vector})"] = None
        flags = r.flags if r.type in FLOATS else ""
        self._append(f"  {result} = call{flags} {r.type} @{intrinsic}({start}{vector} {total})", None)
        if r.operation in OPCODES:
            self._append(f"  {before} = load {r.type}, ptr {r.slot}", None)
            result = self._combine(r, r.type, before, result)
        self._append(f"  store {r.type} {result}, ptr {r.slot}", None)
