"""Arguments and results of a module: pytrees to leaves, leaves to results, random arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_explorer.compiler.pipeline.value_check import largest_error as largest_error
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.explorer.sessions.pytrees import fits, flatten, is_node
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.hlo.given_values import (
    GivenValueError,
    array_of,
    array_of_number,
    has_dimensions_of,
)
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

Array = np.ndarray[Any, Any]
Result: TypeAlias = Any
"""An array, nested tuples of arrays (None for a token), or the pytree of a traced JAX function."""
_DLPACK_HOST = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost


class ArgumentError(XlaExplorerError, TypeError):
    """An argument does not fit its parameter; the message names the parameter and both sides."""


class RandomArgumentError(XlaExplorerError, MemoryError):
    """Random arguments of a module are larger than the memory."""


MOST_NAMED = 8
"""Parameters that an error lists."""


class Signature:
    """The parameters and the result of a module's entry, read once.

    names, shapes: of the parameters by number. leaf_names, leaf_shapes: of their array leaves,
    depth first.
    """

    def __init__(self, module: HloModule) -> None:
        parameters = module.entry.parameters()
        self.module_name = module.name
        self.names = [p.name for p in parameters]
        self.shapes = [p.shape for p in parameters]
        self.result = module.result_shape()
        self.out_tree = _tree_of_results(module)
        self.leaf_names: list[str] = []
        self.leaf_shapes: list[Shape] = []
        for p in parameters:
            for index, leaf in p.shape.leaves():
                where = f"%{p.name}" + (
                    f" element {{{','.join(map(str, index))}}}" if index else ""
                )
                self.leaf_names.append(f"parameter {p.payload} ({where})")
                self.leaf_shapes.append(leaf)
        self._plain = all(shape.is_array for shape in self.shapes)
        # Of array parameters with static sizes: what an argument has that needs no conversion.
        self._exact = (
            [(shape.element_type.dtype, shape.dimensions) for shape in self.shapes]
            if self._plain and not any(any(shape.dynamic) for shape in self.shapes)
            else None
        )

    @property
    def text(self) -> str:
        """`x: f32[4], y: f32[4]`."""
        return ", ".join(
            [
                f"{name}: {shape.text_without_layout}"
                for name, shape in zip(self.names, self.shapes, strict=True)
            ]
        )

    @property
    def brief_text(self) -> str:
        """The text of the first parameters, if there are many."""
        pairs = list(zip(self.names, self.shapes, strict=True))
        shown = ", ".join([f"{name}: {_brief_shape(shape)}" for name, shape in pairs[:MOST_NAMED]])
        return (
            f"{shown} and {len(pairs) - MOST_NAMED} more (session.signature lists all)"
            if len(pairs) > MOST_NAMED
            else shown
        )

    @cleaned
    def __repr__(self) -> str:
        return (
            f"<Signature of {self.module_name}: ({self.text}) -> {self.result.text_without_layout}>"
        )

    def leaves(self, arguments: Sequence[Any]) -> list[Array]:
        """Return one checked array per leaf.

        Tuple parameters take tuples; all leaves in order are accepted too, as is a pytree of them.
        """
        if self._exact is not None and len(arguments) == len(self._exact):
            for value, (dtype, dimensions) in zip(arguments, self._exact, strict=True):
                if (
                    type(value) is not np.ndarray
                    or value.dtype is not dtype
                    or value.shape != dimensions
                ):
                    break
            else:
                return list(arguments)
        tree = self._tree(arguments)
        if tree is not None:
            named = [
                f"{name[:-1]}, given as {path})"
                for name, (path, _) in zip(self.leaf_names, tree, strict=True)
            ]
            return [
                _leaf(name, shape, leaf)
                for name, shape, (_, leaf) in zip(named, self.leaf_shapes, tree, strict=True)
            ]
        if len(arguments) != len(self.shapes) and len(arguments) != len(self.leaf_shapes):
            raise ArgumentError(
                f"{self.module_name} takes {len(self.shapes)} "
                f"argument{'s' if len(self.shapes) != 1 else ''}, got {len(arguments)}",
                f"pass one array per parameter, in this order: {self.brief_text}"
                + (
                    "; of a JAX pytree pass jax.tree.leaves(...)"
                    if len(self.shapes) > MOST_NAMED
                    else ""
                ),
            )
        flat: list[Any]
        if self._plain or len(arguments) != len(self.shapes):
            flat = list(arguments)
        else:
            flat = []
            for name, shape, value in zip(self.names, self.shapes, arguments, strict=True):
                _unpack(name, shape, value, flat)
        return [
            _leaf(name, shape, value)
            for name, shape, value in zip(self.leaf_names, self.leaf_shapes, flat, strict=True)
        ]

    def _tree(self, arguments: Sequence[Any]) -> list[tuple[str, Any]] | None:
        """Return (path, leaf) of arguments that form a pytree of the module's leaves.

        None means one argument per parameter, or one per leaf.
        """
        if all(type(value) is np.ndarray for value in arguments) or not any(
            map(is_node, arguments)
        ):
            return None
        if len(arguments) == len(self.shapes) and all(map(fits, self.shapes, arguments)):
            return None
        tree = flatten(arguments)
        if len(tree) == len(self.leaf_shapes):
            return tree
        if len(arguments) == len(self.shapes) and not any(
            isinstance(value, dict) for value in arguments
        ):
            return None  # the error of one argument is more precise
        last = f": the last is {tree[-1][0]}" if tree else ""
        raise ArgumentError(
            f"{self.module_name} takes {number_of(len(self.leaf_shapes), 'array')}, the "
            f"arguments have {len(tree)}{last}",
            f"pass a pytree of these, in this order: {self.brief_text}",
        )

    def pack_arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """Return one argument per parameter from the leaves, the inverse of `leaves`."""
        arrays = iter(
            [leaf for leaf, shape in zip(leaves, self.leaf_shapes, strict=True) if shape.is_array]
        )
        return tuple([_pack(shape, arrays) for shape in self.shapes])

    def pack(self, leaves: Sequence[Array]) -> Result:
        """Return the result: the traced function's pytree, else one array or (nested) tuples."""
        if self.out_tree is not None:
            return self.out_tree.unflatten(leaves)
        if self.result.is_array:
            return leaves[0]
        return _pack(self.result, iter(leaves))


def _tree_of_results(module: HloModule) -> Any:
    """Return the module's `out_tree` if the result still has as many array leaves, else None."""
    leaves = [leaf for _, leaf in module.result_shape().leaves() if leaf.is_array]
    tree = module.out_tree
    return tree if tree is not None and tree.num_leaves == len(leaves) else None


def _brief_shape(shape: Shape) -> str:
    text = shape.text_without_layout
    return text if len(text) <= 80 else f"{text[:60]}... ({len(shape.tuple_shapes)} elements)"


def _unpack(name: str, shape: Shape, value: Any, flat: list[Any]) -> None:
    if not shape.is_tuple:
        flat.append(value)
        return
    if not isinstance(value, tuple | list) or len(value) != len(shape.tuple_shapes):
        got = f"{len(value)} elements" if isinstance(value, tuple | list) else type(value).__name__
        raise ArgumentError(
            f"parameter %{name} is a tuple of {len(shape.tuple_shapes)} "
            f"({shape.text_without_layout}), got {got}",
            "pass a tuple with one entry per element",
        )
    for number, (part, item) in enumerate(zip(shape.tuple_shapes, value, strict=True)):
        _unpack(f"{name} element {number}", part, item, flat)


def _leaf(name: str, shape: Shape, value: Any) -> Array:
    if not shape.is_array:
        return np.empty(0)
    wanted = shape.element_type.dtype
    if type(value) is np.ndarray:
        array = value
    else:
        try:
            if isinstance(value, bool | int | float | complex):
                array = array_of_number(value, shape.element_type)
            elif _on_a_device(value):
                return value  # type: ignore[no-any-return]  # the backend checks it, and reads it in place
            else:
                array = array_of(value)
        except GivenValueError as problem:
            raise ArgumentError(f"{name} {problem.message}", problem.hint) from None
    if array.dtype == wanted and has_dimensions_of(array, shape):
        return array
    if array.dtype != wanted:
        how = "array.astype(" if hasattr(value, "astype") else "np.asarray(argument, "
        raise ArgumentError(
            f"{name} is {shape.text_without_layout}, so its dtype must be {wanted}; got "
            f"{array.dtype}{list(array.shape)}",
            f"convert the argument: {how}{str(wanted)!r})"
            if array.dtype.kind not in "OUS"
            else "pass numbers or an array of them",
        )
    raise ArgumentError(
        f"{name} is {shape.text_without_layout}, so its dimensions must be "
        f"{list(shape.dimensions)}; got {list(array.shape)}",
        "reshape the argument, or compile the module for its shape",
    )


def _on_a_device(value: Any) -> bool:
    """Return True if an array lies in memory that the host cannot read (by DLPack)."""
    try:
        return (
            hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] not in _DLPACK_HOST
        )
    except Exception:  # its own method; reading it raises again
        return False


def _pack(shape: Shape, leaves: Iterator[Array]) -> Any:
    if shape.is_tuple:
        return tuple([_pack(part, leaves) for part in shape.tuple_shapes])
    return next(leaves) if shape.is_array else None


@explains_arguments
def random_arguments(module: ModuleLike, seed: int = 0) -> tuple[Any, ...]:
    """Return random arguments for a module, the same for the same seed.

    Floats are standard normal, integers lie from 0 to 9, booleans are True or False.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        The module, as for `xe.compile`.
    seed : int, default 0
        The seed of the generator.

    Returns
    -------
    tuple
        One argument per parameter: an array, or nested tuples of arrays.

    Raises
    ------
    RandomArgumentError
        The arguments are larger than the memory.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> [argument.shape for argument in xe.random_arguments(text)]
    [(4,)]
    """
    if isinstance(seed, int) and seed < 0:
        raise RandomArgumentError(f"seed must be at least 0, got {seed}", "such as seed=0")
    generator = np.random.default_rng(seed)

    def made(name: str, shape: Shape) -> Any:
        try:
            return make(shape)
        except (MemoryError, ValueError) as problem:  # numpy limits sizes itself
            raise RandomArgumentError(
                f"random numbers for parameter %{name}, {_brief_shape(shape)} of "
                f"{shape.byte_size:,} bytes, do not fit: "
                f"{str(problem) or 'out of memory'}",
                "pass arrays of your own, or compile the module for smaller shapes",
            ) from None

    def make(shape: Shape) -> Any:
        if shape.is_tuple:
            return tuple([make(part) for part in shape.tuple_shapes])
        if not shape.is_array:
            return None
        kind, sizes = shape.element_type, shape.dimensions
        if any(size < 0 for size in sizes):
            raise RandomArgumentError(
                f"the sizes of {_brief_shape(shape)} must be known for random numbers",
                "give them: shapes=[(2, 3)] of xe.load and xe.compile, --shapes '[(2, 3)]' of "
                "xla-explorer",
            )
        if kind.is_pred:
            return np.asarray(generator.integers(0, 2, sizes), dtype=bool)
        if kind.is_integer:
            return np.asarray(generator.integers(0, 2 if kind.bits < 8 else 10, sizes)).astype(
                kind.dtype
            )
        values = np.asarray(generator.standard_normal(sizes))
        if kind.is_complex:
            values = values + 1j * np.asarray(generator.standard_normal(sizes))
        return values.astype(kind.dtype)

    return tuple([made(p.name, p.shape) for p in as_module(module).entry.parameters()])
