"""A copy of a program with another mesh or other annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from xla_explorer.compiler.spmd.partitioning.sharding_errors import header_error, sharding_error
from xla_explorer.compiler.spmd.propagation.annotations import CONSTRAINT, Annotations
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.axis_sharding import AxisSharding
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.attributes.mesh import AxisPart, Mesh
from xla_explorer.hlo.attributes.sharding_error import ShardingError, argument_error
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Spec = Sequence[str | Sequence[str] | None] | str | None
"""The axes of each dimension as in JAX, `("data", None)`; or as text, `data,-`; None: whole."""
_PAIR = re.compile(r"\s*%?([\w.\-]+)\s*=\s*([^;=]*?)\s*(?:;|$)")
_AXES: Final = re.compile(r"\s*([\w.\-]+)\s*=\s*(\d+)\s*$")


def read_mesh(given: Mesh | Mapping[str, int] | str) -> Mesh:
    """Return a mesh from `data=2,model=4`, a mapping, or a mesh.

    Examples
    --------
    >>> print(read_mesh("data=2,model=4"))
    <["data"=2, "model"=4]>
    """
    if isinstance(given, Mesh):
        return given
    if isinstance(given, str):
        sizes: dict[str, int] = {}
        for part in given.split(","):
            found = _AXES.match(part)
            if found is None or found.group(1) in sizes:
                said = "this is no axis with a size" if found is None else "this axis stands twice"
                raise argument_error("mesh", given, part, said, "write for instance data=2,model=4",
                                     last=found is not None)  # fmt: skip
            sizes[found.group(1)] = int(found.group(2))
        given = sizes
    if not isinstance(given, Mapping):
        raise argument_error("mesh", repr(given), "", "this is no mesh",
                             'give named axes: {"data": 2, "model": 4}')  # fmt: skip
    for axis, size in given.items():
        if not isinstance(size, int) or size < 1:
            raise argument_error("mesh", mesh_text(given), f"{axis}={size}",
                                 f"the axis {axis} has no size of at least 1",
                                 "give the number of devices along it")  # fmt: skip
    if not given:
        raise ShardingError("the mesh has no axes", 'give one: {"data": 2, "model": 4}')
    return Mesh(tuple(given.items()))


def mesh_text(axes: Mapping[str, int]) -> str:
    """Return axes as `data=2,model=4`."""
    return ",".join([f"{axis}={size}" for axis, size in axes.items()])


def read_specs(text: str) -> dict[str, str]:
    """Return the shardings of a text, by value.

    Examples
    --------
    >>> read_specs("x=data,-; w1=-,data+model")
    {'x': 'data,-', 'w1': '-,data+model'}
    """
    found = dict(_PAIR.findall(text))
    if not found or ";".join([f"{k}={v}" for k, v in found.items()]) != re.sub(
        r"\s*([;=])\s*|%", r"\1", text.strip().rstrip(";")
    ):
        raise argument_error("shardings", text, "", "this states no shardings",
                             "write for instance x=data,-; w1=-,model")  # fmt: skip
    return found


def axes_of_spec(spec: Spec, mesh: Mesh, rank: int, value: str) -> tuple[tuple[AxisPart, ...], ...]:
    """Return the axes of each dimension. ShardingError if the spec does not fit.

    Missing dimensions at the end are whole.
    """
    dims = [tuple(map(AxisPart, names)) for names in _names_of(spec)]
    text = f"{value.split()[-1].lstrip('%')}={written_spec(spec)}"
    known = dict(mesh.axes)
    used = [axis.name for axes in dims for axis in axes]
    for name in used:
        if name not in known:
            near = nearest(name, list(known), 2)
            raise argument_error("shardings", text, name,
                                 f"{value} names the axis {name!r}, which the mesh does not have",
                                 f"axes: {', '.join(near or known)}", last=True)  # fmt: skip
    twice = next((name for name in used if used.count(name) > 1), None)
    if twice is not None:
        raise argument_error("shardings", text, twice, f"{value} is split along {twice!r} twice",
                             "an axis may split one dimension of a value", last=True)  # fmt: skip
    if len(dims) > rank:
        raise argument_error("shardings", text, "",
                             f"the sharding of {value} has {len(dims)} dimensions, the value has {rank}",
                             "give at most one entry for each dimension")  # fmt: skip
    return (*dims, *[()] * (rank - len(dims)))


def _names_of(spec: Spec) -> list[list[str]]:
    """Return the names of the axes of each dimension."""
    parts: Sequence[str | Sequence[str] | None] = (
        () if spec is None else spec.split(",") if isinstance(spec, str) and spec.strip() else spec
    )
    names = [
        part.replace("+", " ").split() if isinstance(part, str) else list(part or ())
        for part in parts
    ]
    return [[name for name in one if name not in ("-", "None")] for one in names]


def written_spec(spec: Spec) -> str:
    """Return the axes of each dimension as text.

    Examples
    --------
    >>> written_spec((None, ("data", "model")))
    '-,data+model'
    """
    return ",".join(["+".join(names) or "-" for names in _names_of(spec)])


def annotated(
    module: HloModule,
    mesh: Mesh | Mapping[str, int] | str | None = None,
    shardings: Mapping[str, Spec] | str | None = None,
) -> HloModule:
    """Return a copy of a module on a mesh, with shardings of some values replaced.

    Parameters
    ----------
    module : HloModule
        Stays unchanged.
    mesh : Mesh, mapping or str, optional
        By default the mesh of the module's annotations.
    shardings : mapping or str, optional
        By the name of an argument or instruction: the axes of each dimension.

    Raises
    ------
    ShardingError
        The mesh does not fit the program, no value has the name, or a sharding does not fit.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> module = xe.parse_hlo("ENTRY e { ROOT x = f32[8] parameter(0) }")
    >>> print(annotated(module, "d=2", {"x": ("d",)}).entry.root.attributes["sharding"])
    {devices=[2]<=[2]}
    """
    given = read_specs(shardings) if isinstance(shardings, str) else dict(shardings or {})
    copy = module.clone()
    places = Annotations(module)
    grid = places.mesh if mesh is None else read_mesh(mesh)
    if not grid.axes:
        hint = 'give one: mesh={"data": 2, "model": 4}, or data=2,model=4'
        text = "; ".join([f"{name}={written_spec(spec)}" for name, spec in given.items()])
        if text:
            raise argument_error("shardings", text, "", "the program has no mesh", hint)
        raise ShardingError("the program has no mesh", hint)
    _state_mesh(copy, grid, places.mesh_name)
    for name, spec in given.items():
        i = _named(copy, name, f"{name.lstrip('%')}={written_spec(spec)}")
        dims = axes_of_spec(spec, grid, i.shape.rank if i.shape.is_array else 0, f"%{i.name}")
        _check_sizes(i, dims, grid, spec)
        _annotate(i, AxisSharding(places.mesh_name, dims, (False,) * len(dims), (None,) * len(dims)), grid)  # fmt: skip
    return copy


def _check_sizes(
    i: HloInstruction, dims: Sequence[Sequence[AxisPart]], mesh: Mesh, spec: Spec
) -> None:
    """Raise if a dimension has fewer elements than devices."""
    for k, (axes, size) in enumerate(zip(dims, i.shape.dimensions, strict=True)):
        count = 1
        for axis in axes:
            count *= mesh.size(axis)
        if count > size:
            problem = f"dimension {k} has {size} elements for {count} devices"
            hint = f"split a dimension of at least {count} elements, or use fewer axes"
            if i.parent.module.source_text:
                raise sharding_error(i, problem, hint)
            text, part = f"{i.name}={written_spec(spec)}", "+".join([axis.name for axis in axes])
            raise argument_error("shardings", text, part, f"%{i.name}: {problem}", hint, last=True)


def _state_mesh(module: HloModule, mesh: Mesh, name: str) -> None:
    """Write a mesh to the header. ShardingError if the program is for other devices."""
    count = int(module.attributes.get("num_partitions") or 1)
    if count not in (1, mesh.count):
        axes = ", ".join([f"{axis}={size}" for axis, size in mesh.axes])
        problem = f"the mesh ({axes}) has {mesh.count} devices, the program has {count}"
        hint = "the product of the axes must be num_partitions"
        stated = f"num_partitions={count}"
        if stated in (module.source_text or ""):
            raise header_error(module, stated, problem, hint)
        raise argument_error("mesh", mesh_text(dict(mesh.axes)), "", problem, hint)
    module.attributes["num_partitions"] = mesh.count
    text = str(module.attributes.get("frontend_attributes") or "")
    meshes = f"{{{name} = #sdy.mesh{mesh}}}"
    values = {**frontend_attribute_values(text), "xla.sdy.meshes": meshes}
    module.attributes["frontend_attributes"] = _dictionary(values)


def _named(module: HloModule, name: str, text: str) -> HloInstruction:
    """Return an argument of the entry or an instruction; an argument's number may be left out.

    text: for messages. Instructions of loops and branches are found if no other computation has
    the name.
    """
    wanted = name.lstrip("%")
    entry = module.entry.instructions.values()
    exact = [i for i in entry if i.name == wanted]
    close = [i for i in entry if i.opcode.name == "parameter" and i.name.split(".")[0] == wanted]
    found = exact or close or [i for i in module.instructions() if i.name == wanted]
    if len(found) != 1:
        near = nearest(wanted, [i.name for i in entry], 3)
        raise argument_error(
            "shardings",
            text,
            wanted,
            f"{'no' if not found else 'more than one'} value %{wanted} is in {module.name}",
            f"near: {', '.join(near)}" if near else "give the name of an argument or instruction",
        )
    return found[0]


def _annotate(i: HloInstruction, sharding: AxisSharding, mesh: Mesh) -> None:
    """State the sharding of an argument, or constrain the result of an instruction."""
    stated = {"xla.sdy.sharding": f"#sdy.sharding{sharding}"}
    if i.opcode.name == "parameter":
        old = frontend_attribute_values(str(i.attributes.get("frontend_attributes") or ""))
        text = _dictionary({**old, **stated})
        tiles = str(sharding.tiles(mesh))
        changed = i.attributes.with_values(sharding=tiles, frontend_attributes=text)
        i.parent.set_attributes(i, changed)
        return
    users, is_root = list(i.users), i is i.parent.root
    made = i.parent.add(
        "custom-call",
        i.shape,
        (i,),
        attributes_of(
            {
                "custom_call_target": f'"{CONSTRAINT}"',
                "frontend_attributes": _dictionary(stated),
            }
        ),
        metadata=i.metadata,
        name=f"{i.name}.constraint",
    )
    for user in users:
        for k, operand in enumerate(user.operands):
            if operand is i:
                user.parent.replace_operand(user, k, made)
    if is_root:
        i.parent.set_root(made)


def _dictionary(values: Mapping[str, str]) -> str:
    """Return frontend attributes as text: values that are dictionaries stay bare."""
    shown = []
    for key, value in values.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        shown.append(f"{key}={value}" if value.startswith("{") else f'{key}="{escaped}"')
    return "{" + ",".join(shown) + "}"
