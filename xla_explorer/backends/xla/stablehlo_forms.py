"""Rewrites of a module into forms that StableHLO has, the only input of jaxlib.

Asynchronous chains become their synchronous operations, bitcasts their effect on elements, and
fusions other than elementwise loops become calls. A program whose aliases or donors name parts of
tuples gets an entry without tuples, as jaxlib flattens it anyway.
"""

from __future__ import annotations

from functools import partial, reduce

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.transforms.collectives.convert_async_collectives_to_sync import (
    ConvertAsyncCollectivesToSync,
)
from xla_explorer.compiler.transforms.inlining.async_inliner import AsyncInliner
from xla_explorer.compiler.transforms.layout.layout_assignment import make_bitcasts_row_major
from xla_explorer.compiler.transforms.loops.loop_state import element
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator import UnsupportedOpcodeError
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape, tuple_shape
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    buffer_donor_text,
    input_output_alias_text,
    parse_buffer_donor,
    parse_input_output_alias,
)

_SPREAD = frozenset({"parameter", "constant", "broadcast", "iota"})
_UNKNOWN = frozenset({"mulhi", "scaled-dot"})


def write_for_stablehlo(module: HloModule) -> None:
    """Rewrite a module so that its conversion to StableHLO loses nothing.

    Metadata of instructions is kept.
    """
    for computation in module.computations.values():
        computation.set_schedule(None)  # XLA makes its own
    ConvertAsyncCollectivesToSync(always=True).run(module, PassContext())
    AsyncInliner().run(module, PassContext())
    for computation in list(module.computations.values()):
        for name, value in make_bitcasts_row_major(computation).items():
            value.name = name
        for i in list(computation.instructions.values()):
            if i.opcode.name in _UNKNOWN:
                raise UnsupportedOpcodeError(
                    i.opcode.name,
                    f"%{i.name} is a {i.opcode.name}, which StableHLO lacks, the form in which "
                    "jaxlib takes programs",
                    "use another backend, or write the instruction by others",
                )
            if i.opcode.name == "copy-done" and i.operands[0].opcode.name == "copy-start":
                _replace_copy(i)
            elif i.opcode.name == "bitcast":
                _replace_bitcast(i)
            elif i.opcode.name == "fusion" and not _is_elementwise(i):
                _replace_fusion(i)
    if _names_parts_of_tuples(module):
        _flatten_entry(module)


# -- asynchronous copies ---------------------------------------------------------------------------
def _replace_copy(done: HloInstruction) -> None:
    start, computation = done.operands[0], done.parent
    copy = computation.add("copy", done.shape, start.operands, metadata=done.metadata)
    _put(done, copy)
    if not start.users:
        computation.remove(start)


# -- fusions ---------------------------------------------------------------------------------------
def _is_elementwise(fusion: HloInstruction) -> bool:
    """Return True if a fusion is one elementwise loop, which XLA:CPU compiles to a kernel.

    The conversion drops layouts inside fusions, where XLA assigns none, and configurations.
    """
    return fusion.attributes.get("kind") == "kLoop" and all(
        i.shape.is_array and (i.opcode.elementwise or i.opcode.name in _SPREAD)
        for i in fusion.called[0].instructions.values()
    )


def _replace_fusion(i: HloInstruction) -> None:
    call = i.parent.add("call", i.shape, i.operands, called=i.called, metadata=i.metadata)
    _put(i, call)


def _put(old: HloInstruction, new: HloInstruction) -> None:
    """Put an instruction in the place of another, under its name."""
    computation, name = old.parent, old.name
    computation.replace(old, new)
    computation.remove(old)
    new.name = name


# -- bitcasts --------------------------------------------------------------------------------------
def _replace_bitcast(i: HloInstruction) -> None:
    """Replace a row-major bitcast by its effect on elements: a conversion, a reshape or a copy."""
    source, target = i.operands[0].shape, i.shape
    if not (source.is_array and target.is_array) or any((*source.dynamic, *target.dynamic)):
        return
    computation, x = i.parent, i.operands[0]
    if source.element_type is not target.element_type:
        x = _retyped(computation, x, target)
    x = _reshaped(computation, x, target.dimensions)
    if x is i.operands[0]:
        x = computation.add("copy", target, (x,))
    computation.set_metadata(x, i.metadata)
    _put(i, x)


def _reshaped(
    computation: HloComputation, x: HloInstruction, sizes: tuple[int, ...]
) -> HloInstruction:
    if x.shape.dimensions == sizes:
        return x
    return computation.add("reshape", x.shape.with_dimensions(sizes), (x,))


def _retyped(computation: HloComputation, x: HloInstruction, target: Shape) -> HloInstruction:
    """Return the bits of all elements, in order, as a vector of the target's type."""
    source, kind = x.shape.element_type, target.element_type
    count = target.element_count
    if source.bits < kind.bits:
        x = _reshaped(computation, x, (count, kind.bits // source.bits))
        sizes: tuple[int, ...] = (count,)
    else:
        x = _reshaped(computation, x, (x.shape.element_count,))
        ratio = source.bits // kind.bits
        sizes = (x.shape.element_count, *([ratio] if ratio > 1 else []))
    return computation.add("bitcast-convert", array_shape(kind, sizes), (x,))


# -- tuples of the entry ---------------------------------------------------------------------------
def _names_parts_of_tuples(module: HloModule) -> bool:
    header, entry = module.attributes, module.entry
    if not (header.get("input_output_alias") or header.get("buffer_donor")):
        return False
    result = entry.root.shape
    return any(p.shape.is_tuple for p in entry.parameters()) or any(
        part.is_tuple for part in result.tuple_shapes
    )


def _flatten_entry(module: HloModule) -> None:
    """Give the module an entry without tuple parameters or nested results, which calls the old one.

    Aliases and donors name the same leaves.
    """
    old, header = module.entry, module.attributes
    entry = module.add_computation(f"{old.name}.flat", entry=True)
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    operands = []
    for parameter in old.parameters():
        leaves = []
        for index, leaf in parameter.shape.leaves():
            numbers[parameter.payload, index] = len(numbers)
            made = entry.add_parameter(len(numbers) - 1, leaf, parameter.name)
            entry.set_metadata(made, parameter.metadata)
            leaves.append(made)
        operands.append(_packed(entry, parameter.shape, leaves))
    call = entry.add("call", old.root.shape, operands, called=(old,))
    places = [index for index, _ in call.shape.leaves()]
    found = [reduce(partial(element, entry), index, call) for index in places]
    root = found[0] if len(found) == 1 else entry.add(
        "tuple", tuple_shape([leaf.shape for leaf in found]), found
    )  # fmt: skip
    entry.set_root(root)
    for name in ("entry_computation_layout", "is_scheduled"):
        header.pop(name, None)
    aliases = [
        InputOutputAlias(
            () if len(found) == 1 else (places.index(alias.output_index),),
            numbers[alias.parameter_number, alias.parameter_index],
            (),
            alias.kind,
        )
        for alias in parse_input_output_alias(header.pop("input_output_alias", "{}"))
        if alias.output_index in places
        and (alias.parameter_number, alias.parameter_index) in numbers
    ]
    donors: list[tuple[int, tuple[int, ...]]] = [
        (numbers[donor], ())
        for donor in parse_buffer_donor(header.pop("buffer_donor", "{}"))
        if donor in numbers
    ]
    if aliases:
        header["input_output_alias"] = input_output_alias_text(aliases)
    if donors:
        header["buffer_donor"] = buffer_donor_text(donors)


def _packed(entry: HloComputation, shape: Shape, leaves: list[HloInstruction]) -> HloInstruction:
    """Take leaves from the front of a list, and return them as a value of a shape."""
    if not shape.is_tuple:
        return leaves.pop(0)
    return entry.add("tuple", shape, [_packed(entry, part, leaves) for part in shape.tuple_shapes])
