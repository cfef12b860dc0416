"""Records and modules as LLVM IR: a table of forms of operations, then functions and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction, LlvmModule
from xla_explorer.compiler.codegen.ir.records import (
    Body,
    Branch,
    If,
    Instruction,
    Jump,
    Label,
    Line,
    Loop,
    Phi,
    Record,
    Return,
    Switch,
)
from xla_explorer.compiler.codegen.ir.types import I1, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Value

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
    return f"{i.op} {i.result.type.text}, {a.type.text} {a.name}{i.detail}"


def _followed(i: Instruction) -> str:
    return f"{i.op} {_typed(i.operands)}{i.detail}"


ATOMIC_OPERATIONS = (
    *("add", "sub", "and", "or", "xor", "xchg"),
    *("max", "min", "umax", "umin", "fadd"),
)
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
            "inttoptr",
            "addrspacecast",
        ),
        _cast,
    ),
    **dict.fromkeys(("fptrunc", "fpext"), _float_cast),
    **dict.fromkeys(("fptoui", "fptosi"), _truncation),
    **dict.fromkeys(("fneg", "select", "insertelement", "extractelement", "freeze"), _all),
    "shufflevector": lambda i: f"shufflevector {_typed(i.operands)}, {i.detail}",
    "getelementptr": lambda i: f"getelementptr {i.detail}, {_typed(i.operands)}",
    **dict.fromkeys(("extractvalue", "cmpxchg"), _followed),
    **dict.fromkeys([f"atomicrmw {x}" for x in ATOMIC_OPERATIONS], _followed),
    "alloca": lambda i: f"alloca {i.detail}",
    **dict.fromkeys(("load", "load volatile", "load atomic"), _load),
    **dict.fromkeys(("store", "store volatile", "store atomic"), _followed),
    "math": _math,
    "masked-load": _masked_load,
    "masked-store": lambda i: f"masked-store {_typed(i.operands)}",
    "asm": lambda i: f"call {i.detail}({_typed(i.operands)}) convergent",
    "call": lambda i: f"call {i.detail}({_typed(i.operands)})",
}


def _instruction(r: Instruction) -> str:
    result = r[0]
    if result is None:
        return _FORMS[r[1]](r)
    return f"{result.name} = {_FORMS[r[1]](r)}"


def _phi(r: Phi) -> str:
    incoming = ", ".join([f"[ {value.name}, %{label} ]" for value, label in r.incoming])
    return f"{r.result.name} = phi {r.result.type.text} {incoming}"


def _branch(r: Branch) -> str:
    mark = f", {r.mark}" if r.mark else ""
    return f"br i1 {r.condition.name}, label %{r.then}, label %{r.otherwise}{mark}"


def _switch(r: Switch) -> str:
    t = r.value.type.text
    cases = " ".join([f"{t} {k}, label %{label}" for k, label in enumerate(r.labels)])
    return f"switch {t} {r.value.name}, label %{r.default} [ {cases} ]"


_LINES: dict[type[Line], Callable[[Any], str]] = {
    Instruction: _instruction,
    Phi: _phi,
    Label: lambda r: f"{r.name}:",
    Jump: lambda r: f"br label %{r.label}, {r.mark}" if r.mark else f"br label %{r.label}",
    Branch: _branch,
    Switch: _switch,
    Return: lambda r: "ret void" if r.value is None else f"ret {_typed((r.value,))}",
}


def record_text(record: Line) -> str:
    """Return a record as LLVM IR, not indented."""
    return _LINES[type(record)](record)


def record_line(record: Line) -> str:
    """Return a record as a line of LLVM IR: labels are not indented."""
    text = _LINES[type(record)](record)
    return text if type(record) is Label else f"  {text}"


def record_lines(records: Iterable[Line]) -> list[str]:
    """Return records as lines of LLVM IR."""
    return [
        f"{record.name}:" if type(record) is Label else f"  {_LINES[type(record)](record)}"
        for record in records
    ]


def body_lines(body: Body) -> list[str]:
    """Return a body as lines of LLVM IR, printed once."""
    if body.printed is None:
        body.printed = record_lines(body.records)
    return body.printed


def flattened(records: Iterable[Record]) -> list[Line]:
    """Return records without structure: loops and branches become blocks."""
    writer = _Blocks()
    writer.write(records)
    return writer.flat


class _Blocks:
    def __init__(self) -> None:
        self.flat: list[Line] = []
        self.block = "entry"
        self.count = 0

    def write(self, records: Iterable[Record]) -> None:
        for record in records:
            if isinstance(record, Instruction):
                self.flat.append(record)
            elif isinstance(record, Loop):
                self._loop(record)
            else:
                self._if(record)

    def _label(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"

    def _start(self, label: str) -> None:
        self.flat.append(Label(label, None))
        self.block = label

    def _loop(self, r: Loop) -> None:
        label, end, before = self._label("loop"), self._label("loop.end"), self.block
        index = r.index
        following: Value[Integer] = Value(index.builder, index.type, f"{index}.next", index.depth)
        again: Value[Integer] = Value(index.builder, I1, f"{following}.again", index.depth)
        step: Value[Integer] = Value(index.builder, index.type, str(r.step))
        self.flat.append(Jump(label, "", None))
        self._start(label)
        phis = [Phi(index, [(r.start, before)], None)]
        phis += [Phi(value, [(first, before)], None) for value, first, _ in r.carried]
        self.flat += phis
        self.write(r.body)
        afters: list[Value] = [following, *[after for _, _, after in r.carried]]
        for phi, after in zip(phis, afters, strict=True):
            phi.incoming.append((after, self.block))
        self.flat.append(Instruction(following, "add", (index, step), "nuw nsw", None))
        self.flat.append(Instruction(again, "icmp", (following, r.end), "slt", None))
        self.flat.append(Branch(again, label, end, "", None))
        self._start(end)

    def _if(self, r: If) -> None:
        then, end, before = self._label("then"), self._label("then.end"), self.block
        other = self._label("else") if r.otherwise else end
        self.flat.append(Branch(r.condition, then, other, "", None))
        self._start(then)
        self.write(r.body)
        last = self.block
        self.flat.append(Jump(end, "", None))
        if r.otherwise:
            self._start(other)
            self.write(r.otherwise)
            before = self.block
            self.flat.append(Jump(end, "", None))
        self._start(end)
        for value, x, y in r.results:
            self.flat.append(Phi(value, [(x, last), (y, before)], None))


def _signature(function: LlvmFunction) -> str:
    parameters = ", ".join(function.parameters)
    attributes = "".join([f" {attribute}" for attribute in function.attributes])
    return (
        f"{function.result} @{function.name}({parameters})"
        f"{attributes}{function.optimization_level.attribute}"
    )


def _declaration(function: LlvmFunction) -> str:
    return f"declare {_signature(function)}"


def _located_lines(function: LlvmFunction) -> list[str]:
    """Return the lines of the body, with their debug locations."""
    lines = body_lines(function.body)
    if not function.locations:
        return lines
    return [
        f"{line}, !dbg !{number}" if number else line
        for line, number in zip(lines, function.locations, strict=True)
    ]


def _function_lines(function: LlvmFunction) -> list[str]:
    """Return the lines of a definition."""
    words = [word for word in (function.linkage, function.convention) if word]
    debug = f" !dbg !{function.scope}" if function.scope else ""
    header = " ".join(["define", *words, f"{_signature(function)}{debug} {{"])
    return [header, *_located_lines(function), "}", *([""] if function.is_spaced else [])]


def _function_origins(function: LlvmFunction) -> list[int | None]:
    """Return the HLO instruction of each line of a definition."""
    body, own = [record.origin for record in function.body], function.origin
    return [own, *body, own, *([None] if function.is_spaced else [])]


def function_text(function: LlvmFunction) -> str:
    """Return a definition as text."""
    return "\n".join(_function_lines(function))


def _head(module: LlvmModule) -> list[str]:
    """Return the first lines, up to the functions."""
    found = [f'source_filename = "{module.source}"'] if module.source else []
    found += [f'target triple = "{module.triple}"'] if module.triple else []
    return [*found, *([""] if found else []), *[definition.text for definition in module.globals]]


def module_lines(module: LlvmModule) -> list[str]:
    """Return the lines of a module."""
    groups = [group.text for group in module.attribute_groups or ()]
    declarations = [*map(_declaration, module.elsewhere), *[d.text for d in module.declarations]]
    return [
        *_head(module),
        *[line for function in module.functions for line in _function_lines(function)],
        *declarations,
        "",
        *groups,
        *([] if module.attribute_groups is None else [""]),
        *[node.text for node in module.metadata],
        *["\n" + text if number else text for number, text in enumerate(module.support)],
    ]


def text_with_origins(module: LlvmModule) -> tuple[str, list[int | None]]:
    """Return a module as text, and the HLO instruction of each line."""
    lines = module_lines(module)
    origins: list[int | None] = [None] * len(_head(module))
    for function in module.functions:
        origins += _function_origins(function)
    return "\n".join(lines) + "\n", origins + [None] * (len(lines) - len(origins))


def module_text(module: LlvmModule) -> str:
    """Return a module as text."""
    return "\n".join(module_lines(module)) + "\n"
