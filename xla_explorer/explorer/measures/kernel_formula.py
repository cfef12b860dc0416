"""The computation of a kernel in one readable line: `exp(x - m{0})`, `sum over 1 of (a * b)`."""

from __future__ import annotations

from collections import Counter

from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal

LONGEST = 160
_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "remainder": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
}
_SHORT = {
    "exponential": "exp",
    "logistic": "sigmoid",
    "maximum": "max",
    "minimum": "min",
    "negate": "-",
    "not": "!",
}
_ORDER = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_LOOSE = frozenset(
    {"compare", "select", "broadcast", "negate", "bitcast", "copy", "convert", "reshape"}
)  # their operands keep parentheses
_SILENT = frozenset({"bitcast", "copy", "convert", "reshape"})
_REDUCERS = {
    "add": "sum",
    "maximum": "max",
    "minimum": "min",
    "multiply": "product",
    "and": "all",
    "or": "any",
}


def kernel_formula(kernel: HloInstruction, longest: int = LONGEST) -> str:
    """Return the formula of a fusion or instruction in the names of the kernel's operands.

    A formula longer than `longest` characters is replaced by counts of its operations.
    """
    given: dict[int, str] = {}
    root = kernel
    if kernel.opcode.name == "fusion":
        body = kernel.called[0]
        root = body.root
        for i in body.instructions.values():
            if i.opcode.name == "parameter":
                given[i.id] = kernel.operands[i.parameter_number].name
    else:
        given = {o.id: o.name for o in kernel.operands}
    writer = _Writer(given, longest)
    text = writer.write(root, top=True)
    if len(text) <= longest and not writer.exhausted:
        return text
    if kernel.opcode.name != "fusion":
        return kernel.opcode.name
    counts = Counter(
        [
            i.opcode.name
            for i in kernel.called[0].instructions.values()
            if i.opcode.name not in ("parameter", "constant")
        ]
    )
    return ", ".join(
        [f"{count} {name}" if count > 1 else name for name, count in counts.most_common()]
    )[:longest]


class _Writer:
    """Writes expressions until they get too long."""

    def __init__(self, given: dict[int, str], longest: int) -> None:
        self.given, self.room, self.exhausted = given, 4 * longest, False

    def write(self, i: HloInstruction, top: bool = False) -> str:
        """Return the formula of an instruction and all unnamed ones below it."""
        if i.id in self.given:
            return self.given[i.id]
        self.room -= 4
        if self.room <= 0:
            self.exhausted = True
            return "…"
        name = i.opcode.name
        if name == "constant":
            literal = i.literal
            return (
                literal.text
                if isinstance(literal, Literal) and literal.shape.is_scalar
                else "const"
            )
        parts = [self.write(o, top=name not in _INFIX and name not in _LOOSE) for o in i.operands]
        if name in _SILENT and parts:
            return parts[0]
        if name in _INFIX and len(parts) == 2:
            text = f"{parts[0]} {_INFIX[name]} {parts[1]}"
            return text if top else f"({text})"
        if name == "compare":
            text = f"{parts[0]} {_ORDER.get(str(i.attributes.get('direction')), '?')} {parts[1]}"
            return text if top else f"({text})"
        if name == "select":
            text = f"{parts[1]} if {parts[0]} else {parts[2]}"
            return text if top else f"({text})"
        if name == "broadcast":
            kept = ",".join(map(str, i.attributes.get("dimensions") or ()))
            return f"{parts[0]}{{{kept}}}" if kept else parts[0]
        if name == "reduce":
            over = ",".join(map(str, i.attributes.get("dimensions") or ()))
            body = i.called[0].root.opcode.name if i.called else ""
            inner = ", ".join(parts[: len(parts) // 2])
            return f"{_REDUCERS.get(body, 'reduce ' + body)} over {over} of {inner}"
        if name == "iota":
            return f"iota {i.attributes.get('iota_dimension')}"
        if name == "custom-call":
            return f"{i.attributes.get('custom_call_target')}({', '.join(parts)})"
        return f"{_SHORT.get(name, name)}({', '.join(parts)})"
