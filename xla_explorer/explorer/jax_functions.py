"""`@xe.jit`: a JAX-traceable function that runs on our backends, with the session behind every compile."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import check_compile_options
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.frontends.jax_program import JaxProgram, lower


class JitError(XlaExplorerError, TypeError):
    """The function is called in a way that only JAX's own jit can serve."""


class JittedFunction:
    """Call it as the function itself: pytrees of arrays in, pytrees of jax arrays out.

    One compile per signature (shapes, types, static values), kept in `sessions`; `session` is that of the last call.
    """

    def __init__(self, function: Callable[..., Any], backend: str, static_argnums: Sequence[int], static_argnames: Sequence[str],
                 options: dict[str, Any]) -> None:
        self.function, self.backend, self.options = function, backend, options
        names = _parameter_names(function)
        # As in jax.jit: a position and its name mean the same argument.
        self._static_numbers = {*static_argnums, *[names.index(n) for n in static_argnames if n in names]}
        self._static_names = {*static_argnames, *[names[k] for k in static_argnums if 0 <= k < len(names)]}
        self.sessions: dict[Any, tuple[JaxProgram, Session]] = {}
        self.session: Session | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        jax = import_optional("jax", "jax")
        leaves, tree = self._flatten(jax, args, keywords)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            raise JitError(f"{self.__name__} runs on our backend, which JAX cannot trace through",
                           "put xe.jit outermost: xe.jit(jax.grad(f)), not jax.grad(xe.jit(f))")
        program, session = self._compiled(args, keywords, tree, leaves)
        self.session = session
        signature = session.signature
        leaves = [jax.random.key_data(leaf) if _is_key(jax, leaf) else leaf for leaf in leaves]
        arrays = [np.asarray(leaves[number]).astype(shape.element_type.dtype, copy=False)
                  for number, shape in zip(program.parameters, signature.leaf_shapes, strict=True)]
        results = session.executable.execute(signature.leaves(arrays))
        made = [jax.numpy.asarray(array) for array in results]
        made = [jax.random.wrap_key_data(a, impl=info.dtype) if jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key) else a
                for a, info in zip(made, program.results, strict=True)]
        return jax.tree_util.tree_unflatten(program.out_tree, made)

    def compiled(self, *args: Any, **keywords: Any) -> Session:
        """The session for these arguments, compiled if it has to be; nothing runs."""
        leaves, tree = self._flatten(import_optional("jax", "jax"), args, keywords)
        return self._compiled(args, keywords, tree, leaves)[1]

    def _flatten(self, jax: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[list[Any], Any]:
        """Leaves and tree of what is traced."""
        leaves, tree = jax.tree_util.tree_flatten((
            tuple([a for k, a in enumerate(args) if k not in self._static_numbers]),
            {name: value for name, value in keywords.items() if name not in self._static_names},
        ))
        return leaves, tree

    def _compiled(self, args: tuple[Any, ...], keywords: dict[str, Any], tree: Any, leaves: list[Any]) -> tuple[JaxProgram, Session]:
        key = (
            tree,
            tuple([_abstract(leaf) for leaf in leaves]),
            tuple([(k, a) for k, a in enumerate(args) if k in self._static_numbers]),
            tuple(sorted([(n, v) for n, v in keywords.items() if n in self._static_names])),
        )
        found = self.sessions.get(key)
        if found is None:
            program = lower(self.function, args, keywords, static_argnums=sorted(self._static_numbers) or None,
                            static_argnames=sorted(self._static_names) or None)
            found = self.sessions[key] = (program, compile_module(program.module, backend=self.backend, **self.options))
        return found

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @cleaned
    def __repr__(self) -> str:
        return f"<xe.jit {self.__name__} on {self.backend}: {len(self.sessions)} compiled>"

    __name__: str


@overload
def jit(function: Callable[..., Any], *, backend: str = "cpu", static_argnums: int | Sequence[int] = (),
        static_argnames: str | Sequence[str] = (), **options: Any) -> JittedFunction: ...  # fmt: skip
@overload
def jit(function: None = None, *, backend: str = "cpu", static_argnums: int | Sequence[int] = (),
        static_argnames: str | Sequence[str] = (), **options: Any) -> Callable[[Callable[..., Any]], JittedFunction]: ...  # fmt: skip


def jit(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "cpu",
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    **options: Any,
) -> JittedFunction | Callable[[Callable[..., Any]], JittedFunction]:
    """Compile a JAX-traceable function with our compiler: `@xe.jit`, `@xe.jit(backend="gpu")`, `xe.jit(jax.grad(f))`.

    Results are jax arrays in the function's own pytree. `f.session` is the compile of the last call: `f.session.decisions("fusion")`,
    `xe.explore(f.session)`.

    Parameters
    ----------
    function
        What `jax.jit` takes.
    backend
        As for `xe.compile`.
    static_argnums, static_argnames
        As `jax.jit` takes them.
    **options
        Those of `xe.compile`, and those of `jax.jit`, so that one word changes in a program: `donate_argnums`, `donate_argnames`,
        `keep_unused` and
        `inline` permit what we need not do; `in_shardings`, `out_shardings` and `device` must name one device.

    Returns
    -------
    callable
        The compiled function.

    Raises
    ------
    MissingExtraError
        jax is not installed.
    JitError
        The function was called inside a JAX transformation, or with an option of `jax.jit` that one device cannot serve.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> double = xe.jit(lambda x: x + x)
    >>> double(np.ones(2, np.float32)).tolist()
    [2.0, 2.0]
    """
    _accept_options_of_jax(options)
    check_compile_options(backend, options)

    def make(f: Callable[..., Any]) -> JittedFunction:
        numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        return JittedFunction(f, backend, numbers, names, options)

    return make if function is None else make(function)


_PERMISSIONS = ("donate_argnums", "donate_argnames", "keep_unused", "inline", "fun_name")
_PLACES = ("in_shardings", "out_shardings", "device", "in_axis_resources", "out_axis_resources")


def _accept_options_of_jax(options: dict[str, Any]) -> None:
    """Take the options of `jax.jit` out that change nothing here. JitError for one that would."""
    for name in _PERMISSIONS:
        options.pop(name, None)
    for name in _PLACES:
        if name in options and (count := _devices(options.pop(name))) > 1:
            raise JitError(f"{name} names {count} devices, and xe.jit runs on one", "xe.hlo.evaluate_replicated runs a module on several")
    for name, instead in {"compiler_options": "the options of xe.compile", "abstracted_axes": "a function of one shape"}.items():
        if options.pop(name, None) is not None:
            raise JitError(f"{name} is an option of jax.jit that xe.jit has not", f"use {instead}")


def _devices(given: Any) -> int:
    """The most devices that a sharding, or one in a pytree of them, spreads an array over."""
    if isinstance(given, dict):
        return max(map(_devices, given.values()), default=1)
    if isinstance(given, tuple | list):
        return max(map(_devices, given), default=1)
    mesh = getattr(given, "device_set", None)
    return len(mesh) if mesh is not None else 1


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _is_key(jax: Any, leaf: Any) -> bool:
    kind = getattr(leaf, "dtype", None)
    return kind is not None and not isinstance(leaf, np.ndarray) and bool(jax.dtypes.issubdtype(kind, jax.dtypes.prng_key))


def _abstract(leaf: Any) -> tuple[Any, ...]:
    """What a compile depends on: shape and type; Python numbers by their type (JAX calls them weak)."""
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return tuple(leaf.shape), str(leaf.dtype), bool(getattr(leaf, "weak_type", False))
    return ("python", type(leaf).__name__)
