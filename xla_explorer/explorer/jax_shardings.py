"""`xe.jit` on several devices: mesh and shardings as JAX takes them, checked before a run."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from xla_explorer.explorer.devices.device_calls import answers
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.analysis.effects import is_observable
from xla_explorer.hlo.analysis.manual_regions import BORDERS
from xla_explorer.hlo.attributes.mesh import Mesh
from xla_explorer.hlo.attributes.sharding_error import ShardingError, argument_error
from xla_explorer.hlo.module import HloModule

_NAMES: Final = ("in_shardings", "out_shardings")
_MOST_TEXT: Final = 120
_GIVE_MESH: Final = 'give the axes: xe.jit(f, mesh={"data": 2, "model": 4}, ...)'


class _Shown(str):
    """A text that stands for itself in the text of a pytree."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class JaxShardings:
    """The mesh of a jitted function, and the shardings of its arguments and results.

    Attributes
    ----------
    mesh : jax.sharding.Mesh or AbstractMesh
        The named axes.
    given : dict
        `in_shardings` and `out_shardings` with a sharding of JAX for each PartitionSpec.
    """

    def __init__(self, mesh: Any, given: Mapping[str, Any]) -> None:
        self._jax = import_optional("jax", "jax")
        self.mesh = self._mesh(mesh, given)
        self.given = {name: self._placed(name, one) for name, one in given.items()}

    def _mesh(self, mesh: Any, given: Mapping[str, Any]) -> Any:
        """Return JAX's mesh of a mesh in any form, or that of the shardings or context."""
        places = self._jax.sharding
        if isinstance(mesh, places.Mesh | places.AbstractMesh):
            return mesh
        if mesh is None:
            leaves = [one for tree in given.values() for one in self._leaves(tree)]
            found = next((one.mesh for one in leaves if hasattr(one, "mesh")), None)
            current = places.get_abstract_mesh()
            if found is not None or not current.empty:
                return current if found is None else found
            name, tree = next(iter(given.items()))
            raise argument_error(
                name, self._text(tree), "", f"{' and '.join(given)} name axes, so a mesh must be"
                " given", _GIVE_MESH,
            )  # fmt: skip
        axes = mesh.axes if isinstance(mesh, Mesh) else answers().read_mesh(mesh).axes
        names, sizes = tuple([name for name, _ in axes]), tuple([size for _, size in axes])
        # Newer versions of JAX make axes explicit, whose shardings are types of the program.
        kinds = (
            {"axis_types": (places.AxisType.Auto,) * len(axes)}
            if hasattr(places, "AxisType")
            else {}
        )
        return places.AbstractMesh(sizes, names, **kinds)

    @property
    def axes(self) -> dict[str, int]:
        """The size of each axis."""
        return dict(self.mesh.shape)

    @contextmanager
    def lowering(self) -> Iterator[None]:
        """Enter the context in which a function is lowered: bare specs name axes of the mesh.

        ShardingError for a sharding that JAX refuses.
        """
        abstract = isinstance(self.mesh, self._jax.sharding.AbstractMesh)
        enter = self._jax.sharding.use_abstract_mesh if abstract else self._jax.set_mesh
        try:
            with enter(self.mesh):
                yield
        except ValueError as problem:
            if "sharding" not in str(problem) or isinstance(problem, XlaExplorerError):
                raise
            raise self._refused(problem) from problem

    # -- specs -------------------------------------------------------------------------------------
    def _is_leaf(self, one: Any) -> bool:
        places = self._jax.sharding
        return one is None or isinstance(one, places.PartitionSpec | places.Sharding | str)

    def _leaves(self, tree: Any) -> list[Any]:
        found: list[Any] = self._jax.tree.leaves(tree, is_leaf=self._is_leaf)
        return found

    def _placed(self, name: str, tree: Any) -> Any:
        """Return the pytree with a sharding for each spec."""
        places = self._jax.sharding
        for path, spec in self._jax.tree_util.tree_flatten_with_path(tree, self._is_leaf)[0]:
            where = name + self._jax.tree_util.keystr(path)
            if not self._is_leaf(spec) or isinstance(spec, str):
                raise argument_error(
                    where, repr(spec), repr(spec), "each entry must be a PartitionSpec or None",
                    f"write jax.sharding.PartitionSpec({spec!r})"
                )  # fmt: skip
            if isinstance(spec, places.PartitionSpec):
                self._check_axes(where, spec)
        return self._jax.tree.map(
            lambda one: (
                places.NamedSharding(self.mesh, one)
                if isinstance(one, places.PartitionSpec)
                else one
            ),
            tree,
            is_leaf=self._is_leaf,
        )

    def _check_axes(self, where: str, spec: Any) -> None:
        seen: set[str] = set()
        for axis in [axis for entry in spec for axis in _axes_of(entry)]:
            if axis not in self.axes:
                near = nearest(axis, list(self.axes), 2)
                raise argument_error(
                    where, partition_spec_text(spec), repr(axis),
                    f"the mesh has no axis {axis!r}", f"axes: {', '.join(near or self.axes)}",
                )  # fmt: skip
            if axis in seen:
                raise argument_error(
                    where, partition_spec_text(spec), repr(axis), f"the axis {axis!r} is named twice",
                    "an axis may split one dimension of an array", last=True,
                )  # fmt: skip
            seen.add(axis)

    def check_arguments(self, arguments: Sequence[Any]) -> None:
        """Raise ShardingError if a sharding does not fit the shape of its argument."""
        tree, tools = self.given.get("in_shardings"), self._jax.tree_util
        if tree is None:
            return
        try:
            whole = self._jax.tree.broadcast(tree, tuple(arguments), is_leaf=self._is_leaf)
        except ValueError as problem:
            said = str(problem).split("\n")[0]
            raise argument_error(
                "in_shardings", self._text(tree), "",
                f"the pytree must be a prefix of the arguments: {said}",
                "give a PartitionSpec or a tuple with an entry for each argument",
            ) from None  # fmt: skip
        shardings = self._jax.tree.leaves(whole, is_leaf=self._is_leaf)
        leaves = tools.tree_flatten_with_path(tuple(arguments))[0]
        for (path, leaf), sharding in zip(leaves, shardings, strict=True):
            spec = getattr(sharding, "spec", None)
            if spec is not None:
                self._check_shape("in_shardings" + tools.keystr(path), spec, tuple(leaf.shape))

    def _check_shape(self, where: str, spec: Any, shape: tuple[int, ...]) -> None:
        text = partition_spec_text(spec)
        if len(spec) > len(shape):
            raise argument_error(
                where, text, text, f"the spec has {len(spec)} entries, the array has rank"
                f" {len(shape)}", "give at most one entry for each dimension",
            )  # fmt: skip
        for k, entry in enumerate(spec):
            count = math.prod([self.axes[axis] for axis in _axes_of(entry)])
            if shape[k] % count:
                raise argument_error(
                    where, text, _entry_text(entry),
                    f"dimension {k} of {list(shape)} has {shape[k]} elements for {count} devices",
                    f"split a dimension that {count} divides, or use fewer axes",
                )  # fmt: skip

    def _text(self, tree: Any) -> str:
        """Return a pytree of shardings as users write it."""
        shown = self._jax.tree.map(
            self._shown,
            tree,
            is_leaf=self._is_leaf,
        )
        text = repr(shown)
        return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."

    def _shown(self, one: Any) -> Any:
        spec = (
            one if isinstance(one, self._jax.sharding.PartitionSpec) else getattr(one, "spec", None)
        )
        return one if spec is None else _Shown(partition_spec_text(spec))

    def _refused(self, problem: ValueError) -> ShardingError:
        """Return the error for a sharding that JAX refuses while it lowers the function."""
        name = "out_shardings" if "out_shardings" in self.given else "in_shardings"
        said = str(problem).replace("\n", " ").split("spec=")[-1].replace(")) is", ") is")
        return argument_error(
            name, self._text(self.given.get(name)), "", f"JAX refuses a sharding: {said}",
            "give at most one entry for each dimension, and axes that divide it",
        )  # fmt: skip

    def sharding_of(self, leaf: Any) -> Any:
        """Return the sharding of an array that lies on several devices already, else None."""
        found = getattr(leaf, "sharding", None)
        return found if found is not None and len(getattr(found, "device_set", ())) > 1 else None

    # -- the program -------------------------------------------------------------------------------
    def compile_options(self, module: HloModule, named: Any) -> dict[str, Any]:
        """Return the mesh and shardings that a lowered module does not state."""
        stated = int(module.attributes.get("num_partitions") or 1) > 1
        mesh = {} if stated else {"mesh": self.axes}
        return {**mesh, "shardings": named} if named else mesh


def taken_shardings(options: dict[str, Any]) -> tuple[JaxShardings | None, Any]:
    """Take mesh and shardings out of the options of `xe.jit`.

    Returns the mesh with JAX's shardings (None for one device), and shardings by name.
    """
    mesh, named = options.pop("mesh", None), options.pop("shardings", None)
    given = {name: options.pop(name) for name in _NAMES if options.get(name) is not None}
    for name in _NAMES:
        options.pop(name, None)
    if mesh is None and not named and not any(map(_names_devices, given.values())):
        return None, None
    if mesh is None and not given:
        text = named if isinstance(named, str) else str(dict(named))
        raise argument_error(
            "shardings", text, "", "shardings name axes, so a mesh must be given", _GIVE_MESH
        )
    return JaxShardings(mesh, given), named


def why_joined(module: HloModule) -> str:
    """Return why one program computes for all devices; empty for a partitioned program.

    Each device would repeat an effect, and draw other numbers. The borders of manual regions are
    marked as effects only so that XLA keeps them.
    """
    for i in module.instructions():
        if custom_call_target(i) in BORDERS:
            continue
        if is_observable(i) or i.opcode.name in ("rng", "rng-get-and-update-state"):
            return f"%{i.name} has an effect, or draws random numbers"
    return ""


def _names_devices(given: Any) -> bool:
    """Return True if shardings in a pytree are specs, or on several devices."""
    if isinstance(given, Mapping):
        return any(map(_names_devices, given.values()))
    if isinstance(given, tuple | list):
        return any(map(_names_devices, given))
    devices = getattr(given, "device_set", None)
    if devices is not None:
        return len(devices) > 1
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(given, jax.sharding.PartitionSpec)


def partition_spec_text(spec: Any) -> str:
    """Return a PartitionSpec as users write it: `P('data', None)`."""
    return f"P({', '.join([_entry_text(entry) for entry in spec])})"


def _entry_text(entry: Any) -> str:
    return repr(tuple(entry)) if isinstance(entry, list | tuple) else repr(entry)


def _axes_of(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, tuple | list):
        yield from entry
