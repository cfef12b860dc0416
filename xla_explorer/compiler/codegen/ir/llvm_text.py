"""Records and modules as LLVM IR: a table of forms of operations, then functions and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.records import If, Instruction, Loop, OneRecord, Phi, Record
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value

Lines = list[tuple[str, "int | None"]]  # each with the HLO instruction it came from


def _typed(values: Sequence[Value]) -> str:
    if len(values) == 2:
        a, b = values
        return f"{a.type.text} {a.name}, {b.type.text} {b.name}"
    return ", ".join([f"{v.type.text} {v.name}" for v in values])


def _two(i: Instruction) -> str:
    _, op, (a, b), detail, _ = i
    return (
        f"{op} {detail} {a.type.text} {a.name}, {b.name}"
        if detail
        else f"{op} {a.type.text} {a.name}, {b.name}"
    )


def _all(i: Instruction) -> str:
    return f"{i.op} {i.detail} {_typed(i.operands)}" if i.detail else f"{i.op} {_typed(i.operands)}"


def _cast(i: Instruction) -> str:
    assert i.result is not None
    (a,) = i.operands
    return f"{i.op} {a.type.text} {a.name} to {i.result.type.text}"


def _type_name(t: Type) -> str:
    """Return a type as LLVM spells it, or HLO's name of a float that is held as an integer."""
    name = t.format or t.scalar
    return name if t.lanes == 1 else f"<{t.lanes} x {name}>"


def _float_cast(i: Instruction) -> str:
    """Return a conversion between floats, of which LLVM may lack a type."""
    assert i.result is not None
    (a,) = i.operands
    remark = f"  ; {i.detail}" if i.detail else ""
    return f"{i.op} {_type_name(a.type)} {a.name} to {_type_name(i.result.type)}{remark}"


def _truncation(i: Instruction) -> str:
    return f"{_cast(i)}{f'  ; {i.detail}' if i.detail else ''}"


def _masked_load(i: Instruction) -> str:
    assert i.result is not None
    return f"masked-load {i.result.type.text}, {_typed(i.operands)}"


def _math(i: Instruction) -> str:
    assert i.result is not None
    return f"call {i.result.type.text} @{i.detail}({_typed(i.operands)})"


def _load(i: Instruction) -> str:
    assert i.result is not None
    (a,) = i.operands
    return f"load {i.result.type.text}, {a.type.text} {a.name}{i.detail}"


_FORMS: dict[str, Callable[[Instruction], str]] = {
    **dict.fromkeys(
        (
            "add",
            "sub",
            "mul",
            "udiv",
            "sdiv",
            "urem",
            "srem",
            "shl",
            "lshr",
            "ashr",
            "and",
            "or",
            "xor",
        ),
        _two,
    ),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem", "icmp", "fcmp"), _two),
    **dict.fromkeys(
        (
            "trunc",
            "zext",
            "sext",
            "uitofp",
            "sitofp",
            "bitcast",
            "ptrtoint",
        ),
        _cast,
    ),
    **dict.fromkeys(("fptrunc", "fpext"), _float_cast),
    **dict.fromkeys(("fptoui", "fptosi"), _truncation),
    **dict.fromkeys(("fneg", "select", "insertelement", "extractelement", "freeze"), _all),
    "shufflevector": lambda i: f"shufflevector {_typed(i.operands)}, {i.detail}",
    "getelementptr": lambda i: f"getelementptr {i.detail}, {_typed(i.operands)}",
    "alloca": lambda i: f"alloca {i.detail}",
    "load": _load,
    "store": lambda i: f"store {_typed(i.operands)}{i.detail}",
    "math": _math,
    "masked-load": _masked_load,
    "masked-store": lambda i: f"masked-store {_typed(i.operands)}",
    "call": lambda i: f"call {i.detail}({_typed(i.operands)})",
}


def line_of(record: Instruction | Phi) -> str:
    """Return a record as a line of LLVM IR."""
    if isinstance(record, Instruction):
        result = record[0]
        return (
            f"  {result.name} = {_FORMS[record[1]](record)}"
            if result is not None
            else f"  {_FORMS[record[1]](record)}"
        )
    incoming = ", ".join([f"[ {value}, %{label} ]" for value, label in record.incoming])
    return f"  {record.name} = phi {record.type} {incoming}"


def lines_of(records: Iterable[Record]) -> Lines:
    """Return the lines of a function's records; loops and branches become blocks."""
    return [(x if isinstance(x, str) else line_of(x), origin) for x, origin in flattened(records)]


def flattened(records: Iterable[Record]) -> list[tuple[OneRecord, int | None]]:
    """Return records without structure, each with its HLO instruction.

    Loops and branches become blocks.
    """
    writer = _Blocks()
    writer.write(records)
    return writer.flat


class _Blocks:
    def __init__(self) -> None:
        self.flat: list[tuple[OneRecord, int | None]] = []
        self.block = "entry"
        self.count = 0

    def write(self, records: Iterable[Record]) -> None:
        for record in records:
            if isinstance(record, Instruction):
                self.flat.append((record, record.origin))
            elif isinstance(record, Loop):
                self._loop(record)
            else:
                self._if(record)

    def _label(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"

    def _line(self, text: str) -> None:
        self.flat.append((f"  {text}", None))

    def _start(self, label: str) -> None:
        self.flat.append((f"{label}:", None))
        self.block = label

    def _loop(self, r: Loop) -> None:
        label, end, before = self._label("loop"), self._label("loop.end"), self.block
        following = f"{r.index}.next"
        self._line(f"br label %{label}")
        self._start(label)
        phis = [Phi(r.index.name, r.index.type, [(r.start, before)], None)]
        phis += [
            Phi(value.name, value.type, [(first, before)], None) for value, first, _ in r.carried
        ]
        self.flat += [(phi, None) for phi in phis]
        self.write(r.body)
        afters: list[str | Value] = [following, *[after for _, _, after in r.carried]]
        for phi, after in zip(phis, afters, strict=True):
            phi.incoming.append((after, self.block))
        self._line(f"{following} = add nuw nsw {r.index.type} {r.index}, {r.step}")
        self._line(f"{following}.again = icmp slt {r.index.type} {following}, {r.end}")
        self._line(f"br i1 {following}.again, label %{label}, label %{end}")
        self._start(end)

    def _if(self, r: If) -> None:
        then, end, before = self._label("then"), self._label("then.end"), self.block
        other = self._label("else") if r.otherwise else end
        self._line(f"br i1 {r.condition}, label %{then}, label %{other}")
        self._start(then)
        self.write(r.body)
        last = self.block
        self._line(f"br label %{end}")
        if r.otherwise:
            self._start(other)
            self.write(r.otherwise)
            before = self.block
            self._line(f"br label %{end}")
        self._start(end)
        for value, x, y in r.results:
            self.flat.append((Phi(value.name, value.type, [(x, last), (y, before)], None), None))


def is_operation(line: str) -> bool:
    """Return True for a line of a body that is an operation; labels are not indented."""
    return line.startswith("  ")


def _signature(function: LlvmFunction) -> str:
    parameters = ", ".join(function.parameters)
    attributes = "".join([f" {attribute}" for attribute in function.attributes])
    return (
        f"{function.result} @{function.name}({parameters})"
        f"{attributes}{function.optimization_level.attribute}"
    )


def _declaration(function: LlvmFunction) -> str:
    return f"declare {_signature(function)}"


def function_lines(function: LlvmFunction) -> Lines:
    """Return the lines of a definition."""
    words = [word for word in (function.linkage, function.convention) if word]
    debug = f" {function.debug}" if function.debug else ""
    return [
        (" ".join(["define", *words, f"{_signature(function)}{debug} {{"]), function.origin),
        *zip(function.lines, function.origins, strict=True),
        ("}", function.origin),
        *([("", None)] if function.is_spaced else []),
    ]


def function_text(function: LlvmFunction) -> str:
    """Return a definition as text."""
    return "\n".join([line for line, _ in function_lines(function)])


def module_lines(module: LlvmModule) -> tuple[list[str], list[int | None]]:
    """Return the lines of a module, and the HLO instruction of each line."""
    lines: Lines = [(line, None) for line in (*module.head, *module.globals)]
    for function in module.functions:
        lines += function_lines(function)
    groups = [] if module.attribute_groups is None else [*module.attribute_groups, ""]
    declarations = [*map(_declaration, module.elsewhere), *module.declarations]
    lines += [(line, None) for line in (*declarations, "", *groups, *module.metadata)]
    lines += [(line, None) for line in module.support]
    return [line for line, _ in lines], [origin for _, origin in lines]


def text_with_origins(module: LlvmModule) -> tuple[str, list[int | None]]:
    """Return a module as text, and the HLO instruction of each line."""
    lines, origins = module_lines(module)
    return "\n".join(lines) + "\n", origins


def module_text(module: LlvmModule) -> str:
    """Return a module as text."""
    return text_with_origins(module)[0]
