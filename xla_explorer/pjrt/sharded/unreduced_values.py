"""Arguments and results with a term on each device, which becomes their first dimension.

A program for several devices runs once on whole arrays. The whole of an unreduced value (JAX's
`unreduced`) would be its sum, and each device's term would be lost. The entry has all terms in
three cases. A value goes from the entry straight into a region or out of it. A result is a sum of
the devices' values. A region returns a value as equal on all devices, without a proof of it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

from xla_explorer.compiler.rewriting.op_expander_pass import builder_at
from xla_explorer.compiler.rewriting.removal import remove_if_dead
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.manual_regions import meshes_of
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh, read_axis_parts
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, array_shape
from xla_explorer.pjrt.sharded.opened_calls import is_unreduced, open_calls
from xla_explorer.pjrt.sharded.unreduced_terms import terms_of

INTO, OUT_OF = "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"


class Combiners(NamedTuple):
    """The opcodes that combine the terms of unreduced parameters and results.

    () if all are sums.
    """

    parameters: Sequence[str] = ()
    results: Sequence[str] = ()

    def of_parameter(self, k: int) -> str:
        """Return the combiner of parameter k."""
        return self.parameters[k] if self.parameters else "add"

    def of_result(self, k: int) -> str:
        """Return the combiner of result k."""
        return self.results[k] if self.results else "add"


NO_COMBINERS = Combiners()


class Terms(NamedTuple):
    """Parameters and results whose first dimension numbers terms, by their numbers.

    parameters, results: number to the sharding of the value without that dimension. written: the
    module before the change, None if nothing is changed. combiners: of the unreduced parameters and
    results.
    """

    parameters: dict[int, Sharding]
    results: dict[int, Sharding]
    written: HloModule | None = None
    combiners: Combiners = NO_COMBINERS


NO_TERMS = Terms({}, {})


class _Border(NamedTuple):
    """An operand of a custom call at the border of a region.

    axes: manual ones, along which each device has a value of its own.
    """

    call: HloInstruction
    number: int
    sharding: AxisSharding
    mesh: Mesh
    axes: tuple[AxisPart, ...]

    @property
    def terms(self) -> int:
        return math.prod([self.mesh.size(axis) for axis in self.axes])

    def stacked(self) -> AxisSharding:
        """Return the sharding of the value with the terms as its first dimension."""
        given = self.sharding
        dimensions, is_open = (self.axes, *given.dimensions), (False, *given.open)
        return dataclasses.replace(
            given,
            dimensions=dimensions,
            open=is_open,
            priorities=(None, *given.priorities),
            unreduced=(),
        )

    def attributes(self, name: str) -> dict[str, str]:
        """Return the attributes of a custom call for this operand alone. name: of its shardings."""
        manual = frontend_attribute_values(self.call.attributes["frontend_attributes"])[
            "xla.sdy.manual_axes"
        ]
        texts = {
            "xla.sdy.manual_axes": manual,
            name: f"#sdy.sharding_per_value<[{self.stacked()}]>",
        }
        rows = [f'{key}="{escaped(text)}"' for key, text in texts.items()]
        return {
            "custom_call_target": self.call.attributes["custom_call_target"],
            "frontend_attributes": "{" + ",".join(rows) + "}",
        }


def escaped(text: str) -> str:
    """Return a text escaped for double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def terms_first(module: HloModule, combiners: Combiners = NO_COMBINERS) -> Terms:
    """Make the available terms of unreduced arguments and results a dimension of the entry."""
    entry = module.entry
    if not any(map(is_unreduced, (entry.root, *entry.parameters()))) and not any(
        custom_call_target(i) == OUT_OF for i in module.instructions()
    ):
        return NO_TERMS
    found = Terms({}, {}, module.clone(), combiners)
    open_calls(module)
    for parameter in entry.parameters():
        _take(parameter, found)
    _give(module, found)
    for dead in [i for i in entry.instructions.values() if not i.users and i is not entry.root]:
        remove_if_dead(entry, dead)
    return found if found.parameters or found.results else found._replace(written=None)


def _border(call: HloInstruction, number: int, name: str) -> _Border | None:
    given = frontend_attribute_values(call.attributes.get("frontend_attributes") or "")
    sharding = AxisSharding.read_all(given[name])[number]
    manual = read_axis_parts(given.get("xla.sdy.manual_axes", ""))
    mesh = meshes_of(call.parent.module)[sharding.mesh]
    if sharding.unreduced:
        inside = {axis.name for axis in sharding.unreduced} <= {axis.name for axis in manual}
        return _Border(call, number, sharding, mesh, sharding.unreduced) if inside else None
    cut = {axis.name for axes in sharding.dimensions for axis in axes}
    rest = tuple([axis for axis in manual if axis.name not in cut])
    return _Border(call, number, sharding, mesh, rest) if rest else None


def _take(parameter: HloInstruction, found: Terms) -> None:
    """Make the terms a dimension of a parameter that goes into regions."""
    if not is_unreduced(parameter):
        return
    stated = Sharding.read(parameter.attributes["sharding"])
    for user in list(
        parameter.users
    ):  # a repeated constraint, which JAX 0.11 writes before each region
        if (
            custom_call_target(user) == "Sharding"
            and Sharding.read(str(user.attributes.get("sharding"))) == stated
        ):
            parameter.parent.replace(user, parameter)
    borders = [
        made
        for user in parameter.users
        if custom_call_target(user) == INTO
        for k, o in enumerate(user.operands)
        if o is parameter
        and (made := _border(user, k, "xla.sdy.in_shardings"))
        and made.sharding.unreduced
        and made.sharding.tiles(made.mesh) == stated
    ]
    if not borders:
        return
    computation, users = parameter.parent, list(parameter.users)
    _stack(parameter, borders[0].terms, borders[0].stacked().tiles(borders[0].mesh))
    for border in borders:
        call, k = border.call, border.number
        leaf = [s for _, s in call.shape.leaves()][k]
        local = computation.add(
            call.opcode,
            _with_terms(leaf, 1),
            [parameter],
            attributes_of(border.attributes("xla.sdy.in_shardings")),
        )
        _replace_element(
            call, k, HloValue(builder_at(computation), local).reshape(leaf.dimensions).instruction
        )
    others = [user for user in users if user.users or user is computation.root]
    _use_whole(parameter, others, found.combiners.of_parameter(parameter.parameter_number))
    found.parameters[parameter.parameter_number] = stated


def _stack(parameter: HloInstruction, terms: int, lies: Sharding) -> None:
    """Make the terms the first dimension of a parameter."""
    computation = parameter.parent
    computation.set_shape(parameter, _with_terms(parameter.shape, terms))
    computation.set_attributes(
        parameter, attributes_of({**parameter.attributes, "sharding": str(lies)})
    )


def _use_whole(parameter: HloInstruction, users: list[HloInstruction], combiner: str) -> None:
    """Let users read the combined terms of a parameter."""
    if not users:
        return
    terms = HloValue(builder_at(parameter.parent), parameter)
    reduce = {"maximum": terms.max, "minimum": terms.min}.get(combiner, terms.sum)
    whole = reduce(0).instruction
    for user in users:
        given = [whole if o is parameter else o for o in user.operands]
        parameter.parent.set_operands(user, given)


def _replace_element(call: HloInstruction, k: int, new: HloInstruction) -> None:
    """Let the users of result k of a call read another value."""
    if not call.shape.is_tuple:
        call.parent.replace(call, new)
        return
    for user in [
        u for u in call.users if u.opcode.name == "get-tuple-element" and u.attributes["index"] == k
    ]:
        call.parent.replace(user, new)


def _give(module: HloModule, found: Terms) -> None:
    """Make the terms a dimension of results that are unreduced or come out of regions."""
    entry, root = module.entry, module.entry.root
    text = str(root.attributes.get("sharding") or "")
    is_tuple = root.opcode.name == "tuple"
    if root.shape.is_tuple and not is_tuple:
        return
    values = list(root.operands) if is_tuple else [root]
    shardings = Sharding.read_all(text) if text else [Sharding("unknown")] * len(values)
    for k, (value, stated) in enumerate(zip(values, shardings, strict=True)):
        border = _source(value)
        if not value.shape.is_array:
            continue
        if border is None:
            if "unreduced" in (stated.kind, *stated.subgroups):
                terms = _terms_of_result(value, stated, found, found.combiners.of_result(k))
                if terms is not None:
                    values[k], found.results[k] = terms, stated
                    shardings[k] = stated.terms_first(_device_count(module), value.shape.rank)
            continue
        local, lies = border.call.operands[border.number], border.sharding.tiles(border.mesh)
        if stated.kind not in ("unknown", lies.kind) or (
            stated.kind == lies.kind and stated != lies
        ):
            continue
        if not border.sharding.unreduced and _is_uniform(local, border):
            continue
        first = HloValue(builder_at(entry), local).reshape((1, *local.shape.dimensions)).instruction
        whole = [s for _, s in border.call.shape.leaves()][border.number]
        made = attributes_of(border.attributes("xla.sdy.out_shardings"))
        values[k] = entry.add(border.call.opcode, _with_terms(whole, border.terms), [first], made)
        shardings[k] = border.stacked().tiles(border.mesh)
        found.results[k] = lies
    if found.results:
        new = entry.add("tuple", None, values) if is_tuple else values[0]
        given = "{" + ", ".join(map(str, shardings)) + "}" if is_tuple else str(shardings[0])
        entry.set_attributes(new, attributes_of({**new.attributes, "sharding": given}))
        entry.set_root(new)


def _device_count(module: HloModule) -> int:
    return int(module.attributes.get("num_partitions") or 1)


def _terms_of_result(
    value: HloInstruction, stated: Sharding, found: Terms, combiner: str
) -> HloInstruction | None:
    """Return the terms of an unreduced result that no region made."""
    module = value.parent.module
    count = _device_count(module)

    def stacked(parameter: HloInstruction) -> HloInstruction | None:
        number = parameter.parameter_number
        text = str(parameter.attributes.get("sharding") or "")
        if number not in found.parameters and "unreduced" in text and Sharding.read(text) == stated:
            users, terms = (
                list(parameter.users),
                len({stated.of_subgroup("unreduced", d) for d in range(count)}),
            )
            _stack(parameter, terms, stated.terms_first(count, parameter.shape.rank))
            _use_whole(parameter, users, combiner)
            found.parameters[number] = stated
        return parameter if found.parameters.get(number) == stated else None

    return terms_of(value, stated, count, combiner, stacked)


def _source(value: HloInstruction) -> _Border | None:
    """Return the border of the region that makes a result, looking through copies and tuples."""
    number = 0
    while (
        value.opcode.name in ("copy", "get-tuple-element")
        or custom_call_target(value) == "Sharding"
    ):
        number = int(value.attributes.get("index") or 0)
        value = value.operands[0]
        if value.opcode.name == "tuple":
            value, number = value.operands[number], 0
    return (
        _border(value, number, "xla.sdy.out_shardings")
        if custom_call_target(value) == OUT_OF
        else None
    )


_DIFFER = frozenset([
    "partition-id", "replica-id", "collective-permute", "all-to-all", "reduce-scatter", "custom-call", "parameter", "infeed", "recv",
])  # fmt: skip
_JOIN = frozenset(["all-reduce", "all-gather"])


def _is_uniform(value: HloInstruction, border: _Border) -> bool:
    """Return True if the devices along the axes of a border provably have one value.

    Its inputs are the same on all of them, or come from a collective of them.
    """
    mesh, along = border.mesh, {axis.name for axis in border.axes}
    across = mesh.coordinates([AxisPart(name) for name, _ in mesh.axes if name not in along])
    seen: set[tuple[HloInstruction, int, tuple[HloInstruction, ...]]] = set()

    def joined(i: HloInstruction) -> bool:
        """Return True for a collective of all devices, or of whole rows along the axes."""
        groups = i.attributes["replica_groups"].groups
        place = {device: k for k, group in enumerate(groups) for device in group}
        rows = {(row, place.get(device)) for device, row in across.items()}
        return len(groups) <= 1 or len(rows) == len(set(across.values()))

    def walk(i: HloInstruction, element: int, calls: tuple[HloInstruction, ...]) -> bool:
        if (i, element, calls) in seen:
            return True
        seen.add((i, element, calls))
        name, target = i.opcode.name, custom_call_target(i)
        if name in _JOIN and joined(i):
            return True
        if target == INTO:
            given = AxisSharding.read_all(
                frontend_attribute_values(i.attributes["frontend_attributes"])[
                    "xla.sdy.in_shardings"
                ]
            )[element]
            return not given.unreduced and not along & {
                axis.name for axes in given.dimensions for axis in axes
            }
        if name == "get-tuple-element" or target == "Sharding":
            return walk(i.operands[0], int(i.attributes.get("index") or 0), calls)
        if name == "tuple":
            return walk(i.operands[element], 0, calls)
        if name == "call":
            return walk(i.called[0].root, element, (*calls, i))
        if name == "parameter" and calls:
            return walk(calls[-1].operands[i.parameter_number], 0, calls[:-1])
        inside = {
            inner.opcode.name
            for computation in i.called
            for inner in computation.instructions.values()
        }
        if name in _DIFFER or inside & (_DIFFER - {"parameter"}):
            return False
        return all(walk(o, 0, calls) for o in i.operands)

    return walk(value, 0, ())


def _with_terms(shape: Shape, count: int) -> Shape:
    return array_shape(shape.element_type, (count, *shape.dimensions))
