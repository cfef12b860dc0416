"""What each value of an innermost counted loop is, for `vector_loop`: uniform, growing with the index, a place, a reduction."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xla_explorer.compiler.codegen.loop_refusals import RefusedLoop
from xla_explorer.compiler.codegen.vector_instructions import (
    BACK,
    BOUND,
    LABEL,
    NAME,
    PARAMETER,
    PHI,
    STEP,
    VALUE,
    match_address,
    match_binary,
    match_call,
    match_load,
    match_select,
    match_store,
    result_type,
)

UNIFORM_CONDITIONS = 2  # selects by a condition that holds for the whole loop; of more LLVM makes loops without them, which are faster

IDEMPOTENT = {"maximum": "fmaximum", "minimum": "fminimum", "maxnum": "fmax", "minnum": "fmin", "smax": "smax", "smin": "smin",
               "umax": "umax", "umin": "umin", "and": "and", "or": "or"}  # fmt: skip
OPCODES = {"fadd": "add", "fmul": "multiply", "add": "add", "mul": "multiply", "xor": "xor"}  # of operations that are not idempotent


@dataclass(slots=True)
class Reduction:
    slot: str
    type: str
    load: str = ""  # the value before, in the scalar loop
    operation: str = ""  # fadd, maximum ...
    flags: str = ""
    phis: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


class CountedLoop:
    """The loop as it is written for one element; RefusedLoop says why it cannot be one of vectors."""

    def __init__(self, lines: tuple[str, ...], origins: tuple[int | None, ...], slots: set[str], bases: dict[str, str],
                 everything: tuple[str, ...]) -> None:
        self.lines, self.origins, self.slots, self.bases = lines, origins, slots, bases
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
        self.reductions: dict[str, Reduction] = {}
        self.ahead: list[tuple[str, int | None]] = []

    def _iterations(self, bound: str, everything: tuple[str, ...]) -> int:
        if not self.start.startswith("%") and not bound.startswith("%"):
            return int(bound) - int(self.start)
        span = f"  {bound} = add nsw i64 {self.start}, "
        found = next((line for line in everything if line.startswith(span)), "")
        if not found[len(span):].isdigit():
            raise RefusedLoop("unknown-iterations")
        return int(found[len(span):])

    # -- what each value is --------------------------------------------------------------------------------------------
    def classify(self) -> list[tuple[str, int | None]]:
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
            found = Reduction(load[2], load[1], name)
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
            if found.operation not in IDEMPOTENT and found.operation not in OPCODES:
                raise RefusedLoop("not-a-reduction", value[2])
            if len(using(stored)) != 2 or value[2].count(name) != 1:
                raise RefusedLoop("not-a-reduction", value[2])
            self.reductions[stored] = found
