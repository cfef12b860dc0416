"""The two sides of a comparison: modules, sessions and functions as calls on flat arrays."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_explorer.explorer.sessions.arguments import Array, Signature, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, compile_as, is_of_xla
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule


class SameArgumentError(XlaExplorerError, TypeError):
    """The arguments of `xe.same` cannot be used."""


@dataclasses.dataclass
class Side:
    """One program.

    examples: arrays that show the types and shapes of the leaves; None if only the other side has
    them. run: the results of a call on flat arrays. buffer: the number of the leaf into which
    results are written, or None. flushes: True if subnormal numbers become zeros; of a function it
    is known after a call.
    """

    name: str
    examples: list[Array] | None
    run: Callable[[list[Array]], list[Array]]
    buffer: int | None = None
    flushes: bool = False


def side_of(program: Any, given: tuple[Any, ...], backend: str | None) -> Side:
    """Return a program as a call on flat arrays.

    given: example arguments, which a function needs. backend: compiles modules; None evaluates.
    """
    if isinstance(program, Compilation):
        return _of_session(program)
    if callable(program) and not isinstance(program, HloModule):
        return _of_function(program, given)
    module = as_module(program)
    if backend is not None:
        return _of_session(compile_as(Compilation, module, backend=backend))
    return _of_module(module)


def _of_session(session: Compilation) -> Side:
    def run(leaves: list[Array]) -> list[Array]:
        return [np.asarray(one) for one in session.run_flat(list(leaves))]

    name = f"{session.source.name} on {session.backend}"
    return Side(name, _leaves_of(session.source), run, flushes=is_of_xla(session))


def _of_module(module: HloModule) -> Side:
    signature = Signature(module)

    def run(leaves: list[Array]) -> list[Array]:
        found = evaluate(module, *signature.pack_arguments(leaves))
        return [np.asarray(one) for one in flatten_value(found)]

    return Side(module.name, _leaves_of(module), run)


def _leaves_of(module: ModuleLike) -> list[Array]:
    found = as_module(module)
    return Signature(found).leaves(random_arguments(found))


def _of_function(function: Callable[..., Any], given: tuple[Any, ...]) -> Side:
    name = getattr(function, "__name__", type(function).__name__)
    buffer = _output_parameter(function)
    examples = [np.asarray(leaf) for tree in given for leaf in _leaves(tree)] if given else None

    def run(leaves: list[Array]) -> list[Array]:
        arrays = iter(leaves)
        arguments = [_replaced(tree, arrays) for tree in given] if given else leaves
        found = function(*arguments)
        if buffer is not None:
            return [leaves[buffer]]
        results = list(_leaves(found))
        side.flushes |= any(type(one).__module__.startswith("jax") for one in results)
        return [np.asarray(leaf) for leaf in results]

    side = Side(name, examples, run, buffer)
    return side


def _output_parameter(function: Callable[..., Any]) -> int | None:
    """Return the number of the required parameter `out`, into which the function writes."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None
    for number, parameter in enumerate(parameters):
        if parameter.name == "out" and parameter.default is parameter.empty:
            return number
    return None


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        for key in sorted(tree):
            yield from _leaves(tree[key])
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from _leaves(part)
    elif tree is not None:
        yield tree


def _replaced(tree: Any, leaves: Iterator[Array]) -> Any:
    """Return the tree with other leaves in the same order."""
    if isinstance(tree, dict):
        found = {key: _replaced(tree[key], leaves) for key in sorted(tree)}
        return {key: found[key] for key in tree}
    if isinstance(tree, list | tuple):
        parts = [_replaced(part, leaves) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return None if tree is None else next(leaves)


def examples_of(sides: Sequence[Side]) -> list[Array]:
    """Return example leaves of both sides; SameArgumentError if they are missing or differ."""
    known = [side for side in sides if side.examples is not None]
    if not known:
        raise SameArgumentError(
            "two functions need example arguments, which show types and shapes",
            "xe.same(f, g, x, y)",
        )
    first = known[0].examples
    assert first is not None
    for side in known[1:]:
        assert side.examples is not None
        mine, theirs = [list(map(_type, one)) for one in (first, side.examples)]
        if mine != theirs:
            raise SameArgumentError(
                f"{known[0].name} takes {', '.join(mine)}, {side.name} takes {', '.join(theirs)}",
                "compare programs of the same parameters",
            )
    return first


def _type(array: Array) -> str:
    return type_text(array)


def type_text(array: Array) -> str:
    """Return `float32[4,2]`."""
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
