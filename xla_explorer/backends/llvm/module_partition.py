"""Partition of one LLVM module into several of the same program, for parallel compilation.

Works on the text. A function that others may call or take the address of stays one symbol: defined
in its part, declared in the others. Small helpers that are meant to be inlined (`alwaysinline`,
`linkonce_odr`, `available_externally`) and private constants are copied into each part that uses
them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel

_NAME = r'@(?:"[^"]*"|[-\w.$]+)'
_REFERENCE = re.compile(_NAME)
_DEFINED = re.compile(rf"^define\b[^@]*({_NAME})")
_DECLARED = re.compile(rf"^declare\b[^@]*({_NAME})")
_GLOBAL = re.compile(rf"^({_NAME}) = (.*)$", re.DOTALL)
_ATTRIBUTES = re.compile(r"#\d+")
_COPIED = re.compile(r"\b(?:alwaysinline|linkonce_odr|available_externally)\b")
_OPTIMIZATION_LEVEL = re.compile(r'"optimization-level"="(short|final)"')
_LOCAL_LINKAGE = re.compile(r"^define (?:internal|private) ")
_CONSTANT = re.compile(r"^(?:private|internal)\b.*?\bconstant\b", re.DOTALL)
_HEADER_END = re.compile(r"\s*(?:!dbg !\d+\s*)?\{\s*$")


@dataclass(slots=True)
class _Definition:
    name: str
    text: str
    references: frozenset[str]
    copied: bool
    optimization_level: OptimizationLevel = OptimizationLevel.DEFAULT


def partition_module(ir_text: str, parts: int, *, minimum_lines: int = 200) -> list[str]:
    """Return at most `parts` modules of about equal size; `[ir_text]` if a partition does not pay.

    minimum_lines: least code of a part. Names stay as they are; functions with internal linkage
    that are used across parts become hidden. A module with mutable local variables, aliases, or
    inline module assembly stays whole. The partition depends only on the text and the number of
    parts.
    """
    entities = _split(ir_text)
    if entities is None or parts < 2:
        return [ir_text]
    functions = entities[0]
    own = [function for function in functions.values() if not function.copied]
    lines = sum(function.text.count("\n") for function in own)
    parts = min(parts, len(own), lines // max(1, minimum_lines))
    if parts < 2:
        return [ir_text]
    bins: list[list[_Definition]] = [[] for _ in range(parts)]
    loads = [0] * parts
    for function in sorted(own, key=lambda function: -len(function.text)):
        lightest = loads.index(min(loads))
        bins[lightest].append(function)
        loads[lightest] += len(function.text)
    return _write_parts(bins, entities)


def separate_functions(
    ir_text: str,
    optimization_level: OptimizationLevel,
    *,
    minimum_lines: int = 100,
    small_rest: int = 60,
) -> tuple[str, str]:
    """Return two modules: functions of other optimisation levels, and those of the given one.

    Either may be empty. All functions are in one module if the text cannot be cut, or a cut does
    not pay: the latter have less than `minimum_lines`, or the former have less than `small_rest`
    lines and only calls in loops (they then count as the latter).
    """
    entities = _split(ir_text) if optimization_level.attribute in ir_text else None
    if entities is None:
        return ir_text, ""
    own = [function for function in entities[0].values() if not function.copied]
    wanted = [function for function in own if function.optimization_level is optimization_level]
    others = [function for function in own if function.optimization_level is not optimization_level]
    if sum(function.text.count("\n") for function in others) < small_rest and not any(
        _works_in_loops(f, entities[0]) for f in others
    ):
        return "", ir_text
    if sum(function.text.count("\n") for function in wanted) < minimum_lines:
        return ir_text, ""
    first, second = _write_parts([others, wanted], entities)
    return first, second


def without_functions(ir_text: str, names: Collection[str]) -> str | None:
    """Return the module without functions that another object defines; None if it cannot be cut."""
    entities = _split(ir_text)
    if entities is None:
        return None
    elsewhere = {f"@{name}" for name in names}
    own = [function for function in entities[0].values() if not function.copied]
    here, there = (
        [function for function in own if (function.name in elsewhere) is away]
        for away in (False, True)
    )
    return _write_parts([here, there], entities)[0]


def function_names(ir_text: str) -> list[str] | None:
    """Return the functions that `without_functions` can remove; None if it can remove none."""
    entities = _split(ir_text)
    return (
        None
        if entities is None
        else [name[1:] for name, function in entities[0].items() if not function.copied]
    )


_MEMORY = re.compile(r" = load |^  store ", re.MULTILINE)


def _works_in_loops(function: _Definition, functions: dict[str, _Definition]) -> bool:
    """Return True if a loop of the function accesses memory or calls an inlined function."""
    if " phi " not in function.text:
        return False
    inlined = any(functions[name].copied for name in function.references if name in functions)
    return inlined or _MEMORY.search(function.text, function.text.index(" phi ")) is not None


def _write_parts(bins: list[list[_Definition]], entities: _Entities) -> list[str]:
    """Return the text of each bin: functions, copied helpers, and declarations."""
    functions, declarations, constants, rest = entities
    attributes = {line.split()[1]: line for line in rest if line.startswith("attributes ")}
    other = [line for line in rest if not line.startswith("attributes ")]
    place = {function.name: number for number, group in enumerate(bins) for function in group}
    crossing = {
        name
        for number, group in enumerate(bins)
        for name in _closure(group, functions, constants)
        if place.get(name, number) != number
    }
    order = {name: number for number, name in enumerate(functions)}
    texts = []
    for number, group in enumerate(bins):
        needed = _closure(group, functions, constants)
        chunks: list[str] = [constants[name].text for name in constants if name in needed]
        for name in sorted(needed & functions.keys(), key=order.__getitem__):
            function = functions[name]
            if function.copied or place[name] == number:
                text = function.text
                if name in crossing:
                    text = _LOCAL_LINKAGE.sub("define hidden ", text)
                chunks.append(text)
            else:
                chunks.append(_declaration(function.text))
        chunks += [declarations[name] for name in declarations if name in needed]
        body = "\n".join(chunks)
        # Attribute groups are numbered per module; a copy of all that are used keeps the numbers.
        used = {found for found in _ATTRIBUTES.findall(body) if found in attributes}
        texts.append(
            "\n".join([*other, body, *(attributes[found] for found in sorted(used))]) + "\n"
        )
    return texts


_Entities = tuple[dict[str, _Definition], dict[str, str], dict[str, _Definition], list[str]]


def _split(ir_text: str) -> _Entities | None:
    """Return functions, declarations and local constants by name, and the other lines.

    None if the module must stay whole.
    """
    functions: dict[str, _Definition] = {}
    declarations: dict[str, str] = {}
    constants: dict[str, _Definition] = {}
    rest: list[str] = []
    lines = ir_text.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("define"):
            start = position - 1
            while position < len(lines) and lines[position] != "}":
                position += 1
            position += 1
            text = "\n".join(lines[start:position])
            found = _DEFINED.match(text)
            if found is None or not _HEADER_END.search(line):
                return None
            references = frozenset(_REFERENCE.findall(text)) - {found[1]}
            functions[found[1]] = _Definition(found[1], text, references, copied=False)
        elif line.startswith("declare"):
            found = _DECLARED.match(line)
            if found is None:
                return None
            declarations[found[1]] = line
        elif line.startswith("@"):
            if not _add_global(line, constants, declarations):
                return None
        elif line.startswith("module asm") or (line.startswith("!") and "ptr @" in line):
            return None
        else:
            rest.append(line)
    _read_attributes(functions, rest)
    return functions, declarations, constants, rest


def _add_global(line: str, constants: dict[str, _Definition], declarations: dict[str, str]) -> bool:
    """Add a constant or an external global; return False for any other."""
    found = _GLOBAL.match(line)
    if found is None:
        return False
    if _CONSTANT.match(found[2]):
        references = frozenset(_REFERENCE.findall(found[2]))
        constants[found[1]] = _Definition(found[1], line, references, True)
        return True
    declarations[found[1]] = line
    return found[2].startswith("external ")


def _read_attributes(functions: dict[str, _Definition], rest: list[str]) -> None:
    """Set which functions are copied, and their optimisation levels."""
    groups = {line.split()[1]: line for line in rest if line.startswith("attributes ")}
    for function in functions.values():
        header = function.text.split("\n", 1)[0]
        attributes = " ".join(
            [header, *[groups.get(name, "") for name in _ATTRIBUTES.findall(header)]]
        )
        function.copied = bool(_COPIED.search(attributes))
        function.optimization_level = stated_optimization_level(attributes)


def _closure(
    group: list[_Definition], functions: dict[str, _Definition], constants: dict[str, _Definition]
) -> set[str]:
    """Return all names that a part mentions, in its functions and copied helpers."""
    needed: set[str] = set()
    pending = list(group)
    while pending:
        definition = pending.pop()
        needed.add(definition.name)
        for name in definition.references - needed:
            needed.add(name)
            target = functions.get(name) or constants.get(name)
            if target is not None and target.copied:
                pending.append(target)
    return needed


_LINKAGE = re.compile(
    r"^define (?:(?:internal|private|hidden|dso_local|external|weak_odr|weak|linkonce) )*"
)
_DEFINITION_ONLY = re.compile(
    r"\s*(?:comdat(?:\([^)]*\))?|section \"[^\"]*\"|prefix [^{]*|personality [^{]*|!dbg !\d+)"
)


def _declaration(text: str) -> str:
    header = text.split("\n", 1)[0].rstrip().removesuffix("{")
    return _DEFINITION_ONLY.sub("", _LINKAGE.sub("declare ", header)).rstrip()


def stated_optimization_level(attributes: str) -> OptimizationLevel:
    """Return the optimisation level in the attributes of an LLVM function."""
    found = _OPTIMIZATION_LEVEL.search(attributes)
    return OptimizationLevel[found[1].upper()] if found else OptimizationLevel.DEFAULT
