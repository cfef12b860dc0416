"""`@xe.jit`: JAX-traceable functions that run on our backends, with a session per compile."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, overload

from xla_explorer.backends.cpu.activation import NativeCalls
from xla_explorer.backends.cpu.cpu_executable import CpuExecutable
from xla_explorer.backends.cpu.foreign_call import ForeignProgram, foreign_handler
from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.exploring import explore
from xla_explorer.explorer.jax_leaves import (
    abstract_leaf,
    is_key,
    parameter_names,
    specification,
    with_keys,
)
from xla_explorer.explorer.jax_shardings import JaxShardings, taken_shardings, why_joined
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import check_compile_options
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.optional import import_optional
from xla_explorer.foundation.visible_text import cleaned
from xla_explorer.frontends.jax_program import JaxProgram, lower
from xla_explorer.frontends.jax_program.foreign_functions import (
    call_program,
    program_target,
    tracing_nothing,
)
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    from xla_explorer.explorer.measures.profile_frame import ProfileFrame


class JitError(XlaExplorerError, TypeError):
    """The function is called in a way that only JAX's own jit can serve."""


class _NotForeignError(Exception):
    """A program that JAX cannot call as native code.

    It has steps on the evaluator, another backend, or arguments in memory of their own form.
    """


class JittedFunction:
    """Call it as the function itself: pytrees of arrays in, pytrees of jax arrays out.

    One compile per signature (shapes, types, static values), kept in `sessions`; `session` is that
    of the last call. The native code of the backend `cpu` runs inside JAX's own dispatch; other
    programs by Python.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        backend: str,
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        options: dict[str, Any],
        donated: Sequence[int | str] = (),
        placed: tuple[JaxShardings | None, Any] = (None, None),
    ) -> None:
        self.function, self.backend, self.options = function, backend, options
        # Mesh and shardings as JAX takes them, and shardings by the names of arguments.
        self._placed, self._named = placed
        names = parameter_names(function)
        # As in jax.jit: a position and its name mean the same argument.
        count = len(names)
        self._static_numbers = {
            *[k % count if -count <= k < 0 else k for k in static_argnums],
            *[names.index(n) for n in static_argnames if n in names],
        }
        self._static_names = {
            *static_argnames,
            *[names[k] for k in static_argnums if -count <= k < count],
        }
        self._donated = sorted(
            {
                k if isinstance(k, int) else names.index(k)
                for k in donated
                if isinstance(k, int) or k in names
            }
        )
        self.sessions: dict[Any, tuple[JaxProgram, Session]] = {}
        self.session: Session | None = None
        self._foreign: dict[Any, ForeignProgram] = {}
        self._dispatch: Any = (
            None  # jax.jit of `_traced`, once there is jax; False where Python has to call
            if self._placed is None
            else False
        )
        # (whether JAX is tracing nothing, `_dispatch`), as long as there is one session, which is
        # then that of every call.
        self._direct: tuple[Callable[[], bool], Any] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Run the function, compiled at the first call of each signature."""
        direct = self._direct
        if direct is not None and direct[0]():
            try:
                return direct[1](*args, **keywords)
            except _NotForeignError:
                pass
        return self._call(args, keywords)

    def _call(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call the function if it may have to be traced or compiled first."""
        self._direct = None
        jax = import_optional("jax", "jax")
        tracer = jax.core.Tracer
        for leaf in jax.tree_util.tree_leaves((args, keywords)):
            if isinstance(leaf, tracer):
                raise JitError(
                    f"{self.__name__} runs on our backend, which JAX cannot trace through",
                    "put xe.jit outermost: xe.jit(jax.grad(f)), not jax.grad(xe.jit(f))",
                )
        if self._dispatch is None:
            options = {
                "static_argnums": sorted(self._static_numbers) or None,
                "static_argnames": sorted(self._static_names) or None,
                "donate_argnums": self._donated or None,
            }
            known = {name: value for name, value in options.items() if value is not None}
            wrapped = functools.wraps(self.function)(lambda *a, **k: self._traced(*a, **k))
            self._dispatch = self.backend == jax.default_backend() == "cpu" and jax.jit(
                wrapped, **known
            )
        if self._dispatch:
            try:
                result = self._dispatch(*args, **keywords)
            except _NotForeignError:
                self._dispatch = False
            else:
                if len(self.sessions) > 1:
                    self.session = self.sessions[self._leaves_and_key(jax, args, keywords)[1]][1]
                elif (idle := tracing_nothing()) is not None:
                    self._direct = idle, self._dispatch
                return result
        return self._call_by_python(jax, args, keywords)

    def _traced(self, *args: Any, **keywords: Any) -> Any:
        """Compile the program and return a call of its native code, while JAX traces it."""
        self._direct = None
        jax = import_optional("jax", "jax")
        leaves, key = self._leaves_and_key(jax, args, keywords)
        if any(not isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            raise _NotForeignError
        program, self.session, _ = self._compiled(jax, args, keywords)
        target = program_target(foreign_handler)
        calls = _native_calls(self.session, program)
        if target is None or calls is None:
            raise _NotForeignError
        foreign = self._foreign.setdefault(key, ForeignProgram(calls))
        taken = [leaves[number] for number in program.parameters]
        taken = [jax.random.key_data(leaf) if is_key(jax, leaf) else leaf for leaf in taken]
        shapes = [
            jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(info.shape, info.dtype))
            if is_key(jax, info)
            else info
            for info in program.results
        ]
        given_away = {
            parameter: number
            for number, (_, parameter) in enumerate(calls.results)
            if parameter is not None
        }
        made = call_program(target, foreign.record, shapes, taken, given_away)
        return jax.tree_util.tree_unflatten(program.out_tree, with_keys(jax, made, program))

    def _call_by_python(self, jax: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        program, self.session, leaves = self._compiled(jax, args, keywords)
        arrays = program.arrays(leaves)
        if self._placed is not None and not why_joined(self.session.source):
            found = self.session.devices(*arrays)
            results = list(found) if isinstance(found, tuple) else [found]
        else:
            results = self.session.executable.execute(self.session.signature.leaves(arrays))
        made = [jax.numpy.asarray(array) for array in results]
        return jax.tree_util.tree_unflatten(program.out_tree, with_keys(jax, made, program))

    def compiled(self, *args: Any, **keywords: Any) -> Session:
        """Return the session for these arguments, compiled at first use; nothing runs."""
        return self._compiled(import_optional("jax", "jax"), args, keywords)[1]

    def lower(self, *args: Any, **keywords: Any) -> HloModule:
        """Return the module that JAX lowers for these arguments, before any pass."""
        return self._compiled(import_optional("jax", "jax"), args, keywords)[0].module

    def profile(self, *args: Any, repeats: int = 20, **keywords: Any) -> ProfileFrame:
        """Profile the program for these arguments, any pytrees; see `session.profile`."""
        program, session, leaves = self._compiled(import_optional("jax", "jax"), args, keywords)
        return session.profile(
            *session.signature.pack_arguments(session.signature.leaves(program.arrays(leaves))),
            repeats=repeats,
        )

    def explore(self, *args: Any, **keywords: Any) -> Any:
        """Open the explorer of the session for these arguments, in a notebook."""
        return explore(self.compiled(*args, **keywords))

    def _leaves_and_key(
        self, jax: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[list[Any], Any]:
        """Return the leaves that are traced, and the key of their compile.

        The key's first element is the pytree.
        """
        leaves, tree = jax.tree_util.tree_flatten(
            (
                tuple([a for k, a in enumerate(args) if k not in self._static_numbers]),
                {name: value for name, value in keywords.items() if name not in self._static_names},
            )
        )
        return leaves, (
            tree,
            tuple([abstract_leaf(jax, leaf) for leaf in leaves]),
            tuple([(k, a) for k, a in enumerate(args) if k in self._static_numbers]),
            tuple(sorted([(n, v) for n, v in keywords.items() if n in self._static_names])),
        )

    def _compiled(
        self, jax: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[JaxProgram, Session, list[Any]]:
        leaves, key = self._leaves_and_key(jax, args, keywords)
        found = self.sessions.get(key)
        if found is None:
            specs = jax.tree_util.tree_unflatten(
                key[0], [self._specified(jax, leaf) for leaf in leaves]
            )
            given = iter(specs[0])
            args = tuple(
                [a if k in self._static_numbers else next(given) for k, a in enumerate(args)]
            )
            # JAX may be tracing the call of the function that is compiled here. The side effect of
            # `ensure_compile_time_eval` must not happen: it runs everything that depends on no
            # argument, such as callbacks and random numbers, while the function is traced.
            with jax.core.eval_context():
                found = self.sessions[key] = self._made(args, {**keywords, **specs[1]}, specs[0])
        return *found, leaves

    def _made(
        self, args: tuple[Any, ...], keywords: dict[str, Any], traced: tuple[Any, ...]
    ) -> tuple[JaxProgram, Session]:
        """Lower and compile the function. traced: the arguments that are not static."""
        placed, options = self._placed, self.options
        if placed is not None:
            placed.check_arguments(traced)
        with nullcontext() if placed is None else placed.lowering():
            program = lower(
                self.function,
                args,
                keywords,
                static_argnums=sorted(self._static_numbers) or None,
                static_argnames=sorted(self._static_names) or None,
                donate_argnums=self._donated or None,
                shardings=None if placed is None else placed.given,
            )
        if self._donated and self.backend == "cpu":
            options = {"donate": True, **options}
        lie_in_rows(program.module)
        if placed is not None:
            options = {**placed.compile_options(program.module, self._named), **options}
        return program, compile_module(program.module, backend=self.backend, **options)

    def _sharding_of(self, leaf: Any) -> Any:
        return None if self._placed is None else self._placed.sharding_of(leaf)

    def _specified(self, jax: Any, leaf: Any) -> Any:
        spec, sharding = specification(jax, leaf), self._sharding_of(leaf)
        if sharding is None or (self._placed is not None and "in_shardings" in self._placed.given):
            return spec
        return spec.update(sharding=sharding)

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


@explains_arguments
def jit(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "cpu",
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    **options: Any,
) -> JittedFunction | Callable[[Callable[..., Any]], JittedFunction]:
    """Compile a JAX-traceable function with our compiler, as `jax.jit` does with XLA.

    Use it as a decorator, `@xe.jit` or `@xe.jit(backend="gpu")`, or as a call,
    `xe.jit(jax.grad(f))`. Results are jax arrays in the function's own pytree. `f.session` is the
    compile of the last call: `f.session.decisions("fusion")`, `xe.explore(f.session)`.

    Parameters
    ----------
    function : callable
        A function that `jax.jit` accepts.
    backend : str, default `cpu`
        As for `xe.compile`.
    static_argnums, static_argnames : int or str, or sequences of them
        As for `jax.jit`.
    **options
        Options of `xe.compile`, and those of `jax.jit`, so that a program changes by one word.
        Results take the memory of `donate_argnums`, `donate_argnames`; `keep_unused` and `inline`
        have no effect; `device` must name one device.
        On several devices: `mesh` (a mapping, text, or a mesh of JAX, abstract too), with
        `in_shardings` and `out_shardings` as for `jax.jit`, or `shardings` by the names of
        arguments as for `xe.compile`. JAX itself needs one device only. A call takes and returns
        whole arrays; `f.session.devices` has the partitioned program.

    Returns
    -------
    JittedFunction
        The function, compiled at the first call of each signature.

    Raises
    ------
    MissingExtraError
        jax is not installed.
    JitError
        The function was called inside a JAX transformation, or with an option of `jax.jit` that
        has no meaning here.
    ShardingError
        A sharding does not fit its argument or the mesh; nothing is run.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> double = xe.jit(lambda x: x + x)
    >>> double(np.ones(2, np.float32)).tolist()
    [2.0, 2.0]
    >>> total = xe.jit(lambda x: x.sum(), mesh="data=2", shardings={"x": ("data",)})
    >>> float(total(np.ones(4, np.float32))), list(total.session.devices.collectives["opcode"])
    (4.0, ['all-reduce'])
    """
    placed = taken_shardings(options)
    donated = _accept_options_of_jax(options)
    check_compile_options(backend, options)

    def make(f: Callable[..., Any]) -> JittedFunction:
        numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
        return JittedFunction(f, backend, numbers, names, options, donated, placed)

    return make if function is None else make(function)


def lie_in_rows(module: HloModule) -> None:
    """Set row-major layouts for arguments and results, as JAX's arrays have.

    jaxlib's conversion states another order for transposes.
    """
    entry = module.entry
    parameters = ", ".join([p.shape.base.text for p in entry.parameters()])
    module.attributes["entry_computation_layout"] = (
        f"{{({parameters})->{entry.root.shape.base.text}}}"
    )


_DONATED = ("donate_argnums", "donate_argnames")
_PERMISSIONS = ("keep_unused", "inline", "fun_name")
_PLACES = ("device", "in_axis_resources", "out_axis_resources")


def _accept_options_of_jax(options: dict[str, Any]) -> tuple[int | str, ...]:
    """Take the options of `jax.jit` out; which arguments are donated.

    JitError for an option that we cannot serve.
    """
    given = [options.pop(name, None) for name in _DONATED]
    donated = [
        k
        for some in given
        if some is not None
        for k in ((some,) if isinstance(some, int | str) else some)
    ]
    for name in _PERMISSIONS:
        options.pop(name, None)
    for name in _PLACES:
        if name in options and (count := _devices(options.pop(name))) > 1:
            raise JitError(
                f"{name} names {count} devices, and an argument of xe.jit names one",
                'give mesh={"data": 2, "model": 4} with in_shardings',
            )
    for name, instead in {
        "compiler_options": "the options of xe.compile",
        "abstracted_axes": "a function of one shape",
    }.items():
        if options.pop(name, None) is not None:
            raise JitError(f"{name} is an option of jax.jit that xe.jit has not", f"use {instead}")
    return tuple(donated)


def _devices(given: Any) -> int:
    """Return the largest number of devices of the shardings in a pytree."""
    if isinstance(given, dict):
        return max(map(_devices, given.values()), default=1)
    if isinstance(given, tuple | list):
        return max(map(_devices, given), default=1)
    mesh = getattr(given, "device_set", None)
    return len(mesh) if mesh is not None else 1


def _native_calls(session: Session, program: JaxProgram) -> NativeCalls | None:
    """Return the entries by which JAX's CPU calls the program, None if it cannot.

    It cannot if a step runs on the evaluator or if JAX packs the elements. It cannot either if the
    program writes into an argument whose memory no result takes over.
    """
    executable = session.executable
    if not isinstance(executable, CpuExecutable) or executable.program.evaluator_steps:
        return None
    shapes = [
        *session.signature.leaf_shapes,
        *[leaf for _, leaf in session.signature.result.leaves()],
    ]
    if any(
        not s.is_array or (s.element_type.bits < 8 and not s.element_type.is_pred) for s in shapes
    ):
        return None
    calls = executable.native_calls()
    return (
        calls
        if calls is not None and calls.written <= {taken for _, taken in calls.results}
        else None
    )
