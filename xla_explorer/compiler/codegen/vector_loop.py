"""One innermost loop on its way into vectors; see `loop_vectorization`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xla_explorer.compiler.codegen.loop_refusals import RefusedLoop
from xla_explorer.compiler.codegen.target import CodegenTarget
from xla_explorer.compiler.codegen.vector_instructions import (
    BACK,
    BITS,
    BOUND,
    FLOATS,
    LABEL,
    NAME,
    PARAMETER,
    PHI,
    STEP,
    VALUE,
    VectorizedKernel,
    match_address,
    match_binary,
    match_call,
    match_cast,
    match_load,
    match_select,
    match_store,
    overload,
    result_type,
    vector_instruction,
)
from xla_explorer.compiler.codegen.vector_pairs import come_in_pairs, half_of_words, words_of_halves

FEW_LINES = 12  # a vector loop shorter than this is repeated, so that its own arithmetic does not count
FEWEST_LANES = 4  # a vector is made narrower down to this for a loop with few iterations
INTERLEAVED = 4  # so many times; several accumulators hide the latency of their additions
UNIFORM_CONDITIONS = 2  # selects by a condition that holds for the whole loop; of more LLVM makes loops without them, which are faster

_IDEMPOTENT = {"maximum": "fmaximum", "minimum": "fminimum", "maxnum": "fmax", "minnum": "fmin", "smax": "smax", "smin": "smin",
               "umax": "umax", "umin": "umin", "and": "and", "or": "or"}  # fmt: skip
_NEUTRAL = {"fadd": "-0.0", "fmul": "1.0", "add": "0", "mul": "1", "xor": "0"}


@dataclass(slots=True)
class _Reduction:
    slot: str
    type: str
    load: str = ""  # the value before, in the scalar loop
    operation: str = ""  # fadd, maximum ...
    flags: str = ""
    phis: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


class VectorLoop:
    """One loop on its way into vectors."""

    def __init__(self, kernel: VectorizedKernel, lines: tuple[str, ...], origins: tuple[int | None, ...], slots: set[str],
                 bases: dict[str, str], target: CodegenTarget, everything: tuple[str, ...], number: int, metadata: str) -> None:
        self.metadata = metadata
        self.kernel, self.lines, self.origins, self.slots, self.number = kernel, lines, origins, slots, number
        self.target, self.bases = target, bases
        label, phi = LABEL.fullmatch(lines[0]), PHI.fullmatch(lines[1])
        assert label is not None and phi is not None
        self.label, self.index, self.start, self.before = label[1], phi[1], phi[2], phi[3]
        if phi[5] != self.label:
            raise RefusedLoop("not-counted")
        step, bound, back = (p.fullmatch(line) for p, line in zip((STEP, BOUND, BACK), lines[-3:], strict=True))
        if step is None or bound is None or back is None or step[2] != self.index or step[1] != phi[4] or bound[3] != phi[4]:
            raise RefusedLoop("not-counted")
        if back[4]:
            raise RefusedLoop("writer-says-no")
        self.exit = back[3]
        self.iterations = self._iterations(bound[4], everything)
        self.body = [(line, origin) for line, origin in zip(lines[2:-3], origins[2:-3], strict=True)]
        self.inside: set[str] = {m.group(1) for line, _ in self.body if (m := VALUE.fullmatch(line))} | {self.index}
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
        self.pairs = False
        self.even: dict[str, str] = {}  # with pairs: what each store writes of the even elements

    def _iterations(self, bound: str, everything: tuple[str, ...]) -> int:
        if not self.start.startswith("%") and not bound.startswith("%"):
            return int(bound) - int(self.start)
        span = f"  {bound} = add nsw i64 {self.start}, "
        found = next((line for line in everything if line.startswith(span)), "")
        if not found[len(span):].isdigit():
            raise RefusedLoop("unknown-iterations")
        return int(found[len(span):])

    # -- what each value is --------------------------------------------------------------------------------------------
    def _classify(self) -> list[tuple[str, int | None]]:
        """The lines that stay in the loop; those of uniform values move ahead of it, equal ones are one."""
        kept: list[tuple[str, int | None]] = []
        written = {self._base(m[3]) for line, _ in self.body if (m := match_store(line)) and m[3] not in self.slots}
        self._find_reductions()
        same: dict[str, str] = {}
        known: dict[str, str] = {}
        for line, origin in self.body:
            if same:
                line = NAME.sub(lambda m: same.get(m[0], m[0]), line)
            if match_store(line):
                kept.append((line, origin))
                continue
            value = VALUE.fullmatch(line)
            if value is None:
                raise RefusedLoop("no-vector-form", line.strip())
            name, text = value[1], value[2]
            load = match_load(text)
            if load is not None and load[2] not in self.slots and not PARAMETER.fullmatch(self._base(load[2])):
                raise RefusedLoop("unknown-place", text)
            if load is None or (load[2] not in self.slots and self._base(load[2]) not in written):
                if text in known:
                    same[name] = known[text]
                    continue
                known[text] = name
            if all(self._is_uniform(o) for o in NAME.findall(text)) and "call" not in text and (load is None or load[2] not in self.slots):
                if load is not None and self._base(load[2]) in written:
                    raise RefusedLoop("iterations-meet", text)
                self.uniform.add(name)
                self.ahead.append((line, origin))
                continue
            self._note(name, text)
            kept.append((line, origin))
        self._same_places(kept)
        selects = {m[2] for line, _ in kept if (v := VALUE.fullmatch(line)) and (m := match_select(v[2])) and m[2] in self.uniform}
        if len(selects) > UNIFORM_CONDITIONS:
            raise RefusedLoop("uniform-conditions", conditions=len(selects), at_most=UNIFORM_CONDITIONS)
        return kept

    def _same_places(self, kept: list[tuple[str, int | None]]) -> None:
        """RefusedLoop unless what the loop writes is read, if at all, at the very place: then no iteration sees what another wrote."""
        stores = [m[3] for line, _ in kept if (m := match_store(line)) and m[3] not in self.slots]
        loads = [m[2] for line, _ in kept if (v := VALUE.fullmatch(line)) and (m := match_load(v[2])) and m[2] not in self.slots]
        for number, store in enumerate(stores):
            if store not in self.addresses:
                raise RefusedLoop("not-consecutive", f"a store to {store}")
            base = self.addresses[store][1]
            if not PARAMETER.fullmatch(base):
                raise RefusedLoop("unknown-place", f"a store to {store}")
            for other in (*loads, *stores[:number]):
                if other != store and (other not in self.addresses or (self.addresses[other][1] == base and not self._apart(store, other))):
                    raise RefusedLoop("iterations-meet", f"{store} and {other}")

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
        binary = match_binary(text)
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
        address = match_address(text)
        if address is not None:
            if not self._is_uniform(address[2]) or self.linear.get(address[3]) != 1:
                raise RefusedLoop("not-consecutive", text, stride=self.linear.get(address[3]))
            self.addresses[name] = address[1], self._base(address[2]), 1
            self.places[name] = address[1], address[2], self.offsets.get(address[3])
            return
        result = result_type(text)
        if result is None:
            raise RefusedLoop("no-vector-form", text)
        self.types[name] = result

    def _is_uniform(self, operand: str) -> bool:
        return not operand.startswith("%") or operand not in self.inside or operand in self.uniform

    def _find_reductions(self) -> None:
        """Slots that the loop loads once, combines with something and stores once."""
        values = [v for line, _ in self.body if (v := VALUE.fullmatch(line))]
        loads = [(v[1], m) for v in values if (m := match_load(v[2])) and m[2] in self.slots]
        stores = [m for line, _ in self.body if (m := match_store(line)) and m[3] in self.slots]
        if len({m[2] for _, m in loads}) != len(loads) or sorted(m[2] for _, m in loads) != sorted(m[3] for m in stores):
            raise RefusedLoop("not-a-reduction")

        def using(name: str) -> list[str]:
            return [line for line, _ in self.body if name in NAME.findall(line)]

        for name, load in loads:
            found = _Reduction(load[2], load[1], name)
            users = [line for line in using(name) if not line.startswith(f"  {name} = ")]
            stored = next(m[2] for m in stores if m[3] == load[2])
            value = VALUE.fullmatch(users[0]) if len(users) == 1 else None
            if value is None or value[1] != stored:
                raise RefusedLoop("not-a-reduction", load[2])
            if (b := match_binary(value[2])) is not None:
                found.operation, found.flags = b[1], b[2]
                if b[1].startswith("f") and "reassoc" not in b[2]:
                    raise RefusedLoop("order-of-additions", value[2])
            elif (c := match_call(value[2])) is not None and c[3].startswith("llvm."):
                found.operation, found.flags = c[3].split(".")[1], c[1]
            if found.operation not in _IDEMPOTENT and found.operation not in _NEUTRAL:
                raise RefusedLoop("not-a-reduction", value[2])
            if len(using(stored)) != 2 or value[2].count(name) != 1:
                raise RefusedLoop("not-a-reduction", value[2])
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
        widths = [BITS[t] for t in self.types.values()] + [BITS[self.addresses[a][0]] for a in self.addresses]
        if not widths or max(widths) == 1:
            raise RefusedLoop("nothing-varies")
        self.lanes = max(self.target.vector_bits // max(widths), 2)
        while self.lanes > max(self.iterations, FEWEST_LANES):
            self.lanes //= 2
        if self.iterations < self.lanes:
            raise RefusedLoop("few-iterations", f"{self.iterations} of {self.lanes}", iterations=self.iterations, lanes=self.lanes)
        copies = INTERLEAVED if len(kept) <= FEW_LINES or (self.reductions and len(kept) <= 3 * FEW_LINES) else 1
        if any("call" in line and "@xe_" in line for line, _ in kept):
            copies = 2 if self.reductions else 1
        if max(widths) == 32 and not self.reductions and 2 * self.lanes <= self.iterations and (
            self.iterations % (2 * self.lanes) == 0 or not self._updates(kept)
        ):
            self.pairs = come_in_pairs([line for line, _ in kept], self.addresses, self.linear, self.slots)
        if self.pairs:
            copies = 2
            self.kernel.pairs = True
        while copies > 1 and not self.pairs and (self.lanes * copies > self.iterations
                                                 or self.iterations % (self.lanes * copies) >= self.lanes):
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
            if copy == 0 or self.pairs:
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
                if self.pairs:
                    if copy == 0:
                        self.even[line] = value
                    else:
                        words = words_of_halves(self._fresh("pair"), self.even[line], value, self.lanes)
                        out += [(one, origin) for one in words.lines]
                        out.append((f"  store {self._vector('i32')} {words.value}, ptr {pointer}, align {align}", origin))
                    continue
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
                whole = self._vector("i32" if self.pairs else m[1])
                rewritten = f"load {whole}, ptr {at(m[2])}, align {m[3] or BITS[m[1]] // 8}"
                if self.pairs:
                    before, rewritten = half_of_words(name, rewritten, copy, self.lanes)
                    out.append((before, origin))
            elif (m := match_cast(text)) is not None and m[1] == "trunc" and m[5] == "i32" and self.linear.get(m[4]) == 1:
                rewritten = self._numbers(m[4], copy, out, origin)
            else:
                rewritten = vector_instruction(text, self.lanes, of, self.kernel)
            names[name] = f"{name}.v{copy}" if copy else f"{name}.v"
            out.append((f"  {names[name]} = {rewritten}", origin))
            if name in self.reductions:
                reduction = self.reductions[name]
                if mask is not None and (updates or reduction.operation not in _IDEMPOTENT):
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
            intrinsic = f"llvm.{r.operation}.{overload(t)}"
            declarations[f"declare {t} @{intrinsic}({t}, {t})"] = None
            self._append(f"  {name} = call{r.flags} {t} @{intrinsic}({t} {a}, {t} {b})", None)
        return name

    def _finish(self, r: _Reduction) -> None:
        """Accumulators to one, lanes to one, then with what the slot holds."""
        vector, total = self._vector(r.type), r.results[0]
        for other in r.results[1:]:
            total = self._combine(r, vector, total, other)
        kind = r.operation if r.operation in _NEUTRAL else _IDEMPOTENT[r.operation]
        intrinsic, start = f"llvm.vector.reduce.{kind}.{overload(vector)}", ""
        if kind in ("fadd", "fmul"):
            start = f"{r.type} {_NEUTRAL[kind]}, "
        result, before = self._fresh(), self._fresh()
        self.kernel.declarations[f"declare {r.type} @{intrinsic}({r.type + ', ' if start else ''}{vector})"] = None
        flags = r.flags if r.type in FLOATS else ""
        self._append(f"  {result} = call{flags} {r.type} @{intrinsic}({start}{vector} {total})", None)
        if r.operation in _NEUTRAL:
            self._append(f"  {before} = load {r.type}, ptr {r.slot}", None)
            result = self._combine(r, r.type, before, result)
        self._append(f"  store {r.type} {result}, ptr {r.slot}", None)
