"""`xe.compile`: from a module, a text, a file or a function to a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.devices.device_calls import answers
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import compile_as
from xla_explorer.explorer.sessions.isolation import Isolation
from xla_explorer.explorer.sessions.loading import EntryChoice, ModuleLike, as_module
from xla_explorer.foundation.keywords import explains_arguments

P = ParamSpec("P")


def _refusing_functions(compiling: Callable[P, Session]) -> Callable[P, Session]:
    """Raise for a function that is not lowered before the arrays behind it are bound to options."""

    @wraps(compiling)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Session:
        if args and callable(args[0]):
            as_module(args[0])
        return compiling(*args, **kwargs)

    return checked


@explains_arguments
@_refusing_functions
def compile(  # noqa: PLR0913 - keywords that users type
    module: ModuleLike,
    backend: str = "cpu",
    passes: PipelineLike = "default",
    journal: str = "decisions",
    threads: int | None = None,
    *,
    verify: bool = True,
    check_passes: bool = False,
    check_values: Any = None,
    cache: bool = True,
    control: PassControl | None = None,
    keep_errors: bool = False,
    filename: str | None = None,
    isolate: bool | Isolation | None = None,
    timeout: float | None = None,
    memory_limit: int | None = None,
    mixed_precision: bool = False,
    function: str | None = None,
    shapes: Sequence[Any] | None = None,
    force: Iterable[Any] = (),
    forbid: Iterable[Any] = (),
    mesh: Mapping[str, int] | str | None = None,
    shardings: Mapping[str, Any] | str | None = None,
    **backend_options: Any,
) -> Session:
    """Compile a module, and record every pass and decision.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        A module, HLO or StableHLO text, the path of a file, a traced function, or an object of JAX
        such as `jax.jit(f).lower(x)`.
    backend : str, default `cpu`
        `cpu`, `gpu`, `interpreter`, `xla` or a plug-in's name; `xe.backend_names()` lists them. The
        backend `xla` is real XLA in a child process; questions about its speed and memory are
        functions of `xe.xla`, such as `xe.xla.why_slow`.
    passes : str or PassPipeline, default `default`
        `default`, `none`, a pipeline such as `algsimp,cse,dce`, or a PassPipeline.
    journal : str, default `decisions`
        The recorded events: `off`, `passes`, `decisions` or `everything`.
    threads : int, optional
        The number of threads; by default the backend chooses it.
    verify : bool, default True
        Check the module first.
    check_passes : bool, default False
        Verify the module after each pass too.
    check_values : True or sequence of arrays, optional
        Arguments (True: random ones) on which the module is evaluated after each pass that changed
        it. The compile fails with a ValuesDifferError that names the first pass after which the
        values differ.
    cache : bool, default True
        Read native code from this user's cache, and store it there.
    control : PassControl, optional
        Overrides of decisions, as `session.override` makes them.
    keep_errors : bool, default False
        Return the session of a failed compile instead of raising.
    filename : str, optional
        The name of HLO text in messages.
    isolate : bool or Isolation, optional
        Compile and run in a child process. A crash, an endless loop or exhausted memory there is an
        IsolatedError that names the pass, or the kernel and its HLO. By default the value of
        `xe.options`.
    timeout : float, optional
        Seconds for a compile, a run, or a method of the session as a whole; isolated or with real
        XLA.
    memory_limit : int, optional
        Bytes for the child, or for real XLA.
    function : str, optional
        Of a text or file of StableHLO with several functions, the one that runs, as `xe.load` takes
        it.
    shapes : sequence, optional
        For StableHLO with dynamic sizes: a shape or a value for each argument of the entry, as in
        `xe.load`.
    mixed_precision : bool, default False
        Accept instructions whose float operands and results differ in precision, as in a TPU's
        optimised HLO, and convert. Text and protos with a TPU's tiled layouts are accepted without
        it, with a warning.
    force, forbid : list of (kind, *subjects)
        Decisions that must be accepted, or refused, as in `session.override`: `[("fusion",
        "%producer", "%consumer")]`. The module is compiled without them first, which records its
        decisions. `.overrides()` has the result of each, `.compare()` the effect.
    mesh : mapping or str, optional
        The named axes of the devices, `{"data": 2, "model": 4}` or `data=2,model=4`;
        `session.devices` has the partitioned program. By default those of the module.
    shardings : mapping or str, optional
        Annotations beside those of the module: for the name of an argument or instruction the axes
        of each dimension, `{"x": ("data", None)}` or `x=data,-; w=-,model`.
    **backend_options
        Options of one backend; of `cpu` and `gpu`: contraction (False: a product and the sum of it
        are rounded separately); of `gpu`: architecture, device, libraries, math, tf32, graphs,
        synchronous; of `cpu`: donate, excess_precision, fusion_policy, schedules (of loop nests: a
        file, a text with lines `%kernel: split{j,16},vectorize{ji}`, a mapping, or a result of
        `session.schedule`). An unknown name is an error, which lists the known ones.

    Returns
    -------
    Session
        The compile, to run and to inspect.

    Raises
    ------
    HloParseError, HloVerifyError
        The module is malformed; with places and next steps.
    UnknownBackendError, UnknownOptionError, PipelineSyntaxError
        A name is unknown; with near ones.
    CompileFailedError
        A pass or the backend failed; `.session` shows every step before.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> session = xe.compile(text)
    >>> session(np.zeros(4, np.float32)).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    force, forbid = list(force), list(forbid)
    if mesh is not None or shardings:
        choice = EntryChoice(function, shapes)
        module = answers().annotated(as_module(module, filename, choice), mesh, shardings)
        filename = function = shapes = None
    session = compile_as(
        Session,
        module,
        backend,
        passes,
        journal,
        threads,
        verify=verify,
        check_passes=check_passes,
        check_values=check_values,
        cache=cache,
        control=control,
        keep_errors=keep_errors,
        filename=filename,
        isolate=isolate,
        timeout=timeout,
        memory_limit=memory_limit,
        mixed_precision=mixed_precision,
        function=function,
        shapes=shapes,
        **backend_options,
    )
    return session.override(force=force, forbid=forbid) if force or forbid else session
