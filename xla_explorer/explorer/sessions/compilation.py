"""One compile: its source, the record of each pass, the backend's result, and calls that run it.

Questions, measures, code, comparisons and pages take a `Compilation`. `xe.Session` is one with
these questions as methods.
"""

from __future__ import annotations

import inspect
import os
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from xla_explorer.backends.interfaces import (
    ArgumentPlacer,
    CompilationStage,
    CompileOptions,
    CompileResult,
    Executable,
    ProgramStep,
)
from xla_explorer.backends.registry import UnknownBackendError
from xla_explorer.compiler.pipeline import PassControl, PassTrace
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.sessions.arguments import Array, Result, Signature
from xla_explorer.explorer.sessions.backend_options import platform_with_options
from xla_explorer.explorer.sessions.beside import Beside
from xla_explorer.explorer.sessions.elided_constants import record_elided_constants
from xla_explorer.explorer.sessions.given_schedules import given_schedules
from xla_explorer.explorer.sessions.isolation.limited_calls import bounds_of
from xla_explorer.explorer.sessions.isolation.outcome import compiled, source_of
from xla_explorer.explorer.sessions.isolation.settings import (
    Isolation,
    has_own_process,
    isolation_settings,
)
from xla_explorer.explorer.sessions.loading import (
    EntryChoice,
    ModuleLike,
    as_module,
    in_explicit_precision,
)
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses, name_or_id
from xla_explorer.explorer.sessions.pickled_result import PickledResult
from xla_explorer.explorer.sessions.source_lines import SourceLines
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.limits import under
from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.analysis.elided_constants import warn_of_elided_constants
from xla_explorer.hlo.instruction import HloInstruction, InstructionRecord
from xla_explorer.hlo.metadata import parse_metadata
from xla_explorer.hlo.module import HloModule

C = TypeVar("C", bound="Compilation")
DUMP = "xla-dump"
"""The name of the backend of sessions that show what XLA dumped."""


class CompileFailedError(XlaExplorerError):
    """A compile that failed.

    `session` has everything that happened before; the cause is the exception.
    """

    def __init__(self, session: Compilation) -> None:
        problem = session.error
        super().__init__(
            f"compiling {session.source.name} for {session.backend} failed in "
            f"{session.failed_phase}: {type(problem).__name__}: {problem}",
            "the .session of this error shows every step before",
        )
        self.session: Any = session  # of the requested type: of `xe.compile`, a Session


class CannotRunError(XlaExplorerError):
    """A compile whose backend cannot run here."""


class UnknownStageError(XlaExplorerError, KeyError):
    """A name of no artifact of the backend."""


class NotThereError(XlaExplorerError, AttributeError):
    """An attribute that this session does not have, so that `hasattr` is False."""


class Compilation(PickledResult):
    """One compile, which can be called with arrays.

    Attributes
    ----------
    source : HloModule
        The module as given.
    backend : str
        The name of the backend.
    options : CompileOptions
        The options of the compile.
    passes : RecordedPasses
        The record of every pass; element 0 is the module as written.
    result : CompileResult or None
        The backend's result; None after an earlier failure.
    error : BaseException or None
        The exception that ended the compile.
    seconds : dict
        Compile time by phase.
    base : Compilation or None
        The compile that this one overrides.
    """

    def __init__(
        self,
        source: HloModule,
        backend: str,
        options: CompileOptions,
        record: PassTrace,
        result: CompileResult | None,
        error: BaseException | None,
        failed_phase: str,
        seconds: Mapping[str, float],
    ) -> None:
        self.source, self.backend, self.options = source, backend, options
        self.source_lines = SourceLines(source)
        self.source_lines.learn(record.module)
        self.passes: RecordedPasses[RecordedPass] = self._passes_of(record)
        self.result, self.error, self.failed_phase, self.seconds = (
            result,
            error,
            failed_phase,
            dict(seconds),
        )
        self.signature = Signature(source)
        self.gpu_sessions: dict[tuple[Any, ...], Any] = {}  # by the options that they differ in
        self.last_profile: Any = None  # the DataFrame of the last profile
        self.last_emulation: Any = None
        self.base: Any = None
        self.requested: tuple[
            tuple[str, str, tuple[Any, ...]], ...
        ] = ()  # (force | forbid, kind, subjects) of the overrides
        self.beside: Beside | None = None  # another compiler's result for the same program
        self.written = ""  # its text, if it was written in an editor
        self.isolation: Isolation | None = (
            None  # the limits of its child process; None: it runs in this process
        )

    def _passes_of(self, record: PassTrace) -> RecordedPasses[RecordedPass]:
        return RecordedPasses(record, RecordedPass)

    # -- running -----------------------------------------------------------------------------------
    @property
    def executable(self) -> Executable:
        """The program that runs.

        CompileFailedError after a failed compile; CannotRunError with the reason if the backend
        cannot run here.
        """
        if self.error is not None:
            raise CompileFailedError(self) from self.error
        assert self.result is not None
        if self.result.executable is None:
            why = self.result.why_not
            raise CannotRunError(
                f"{self.backend} cannot run here: {why.message if why else 'it only compiles'}",
                f"session.stages() has its code: {', '.join(self.stages())}",
            )
        return self.result.executable

    def __call__(self, *arrays: Any) -> Result:
        """Run the program and return its result.

        Parameters
        ----------
        *arrays
            One argument per parameter: a numpy array, any array with DLPack, or a Python number.
            Pytrees of arrays are accepted too, with the leaves in JAX's order:
            `session({"w": w, "b": b}, x)`.

        Returns
        -------
        array, tuple or pytree
            Of a module that was traced from a JAX function, the function's pytree of numpy arrays.
            Of other modules one array, or (nested) tuples as the module states them.

        Raises
        ------
        ArgumentError
            An argument does not fit; the message names the parameter, the place of the argument
            (`args[0]['w']`), what must hold and what was given.
        """
        return self.signature.pack(self.executable.execute(self.signature.leaves(arrays)))

    def run_flat(self, arrays: list[Any]) -> list[Array]:
        """Run the program on a flat list of leaves and return a list of leaves.

        Only the backend checks the arguments.

        Parameters
        ----------
        arrays : list
            The leaves of the arguments, in the order of the entry's parameters.
        """
        executable = self.result.executable if self.result is not None else None
        return (executable or self.executable).execute(arrays)  # raises if there is none

    @explains_arguments
    def place(self, *arrays: Any) -> tuple[Any, ...]:
        """Copy arguments to memory that the backend reads without a copy, as `jax.device_put` does.

        `x, y = session.place(x, y)`, then `session(x, y)` as often as needed. On a CPU the memory
        is aligned to a cache line, in the layouts of the parameters; large arrays lie on huge
        pages. On a GPU the arrays lie on the device. Arguments stay as they are if the backend
        gains nothing, or if the code runs in a child process.

        Parameters
        ----------
        *arrays
            The arguments of the program. ArgumentError as for a call.
        """
        leaves: list[Any] = list(self.signature.leaves(arrays))
        executable = self.executable
        return self.signature.pack_arguments(
            executable.place(leaves) if isinstance(executable, ArgumentPlacer) else leaves
        )

    # -- results -----------------------------------------------------------------------------------
    @property
    def module(self) -> HloModule:
        """The optimised module."""
        return self.passes.module

    def stages(self) -> Mapping[str, CompilationStage]:
        """Return the artifacts by name, in order: hlo, hlo-optimized, buffers, llvm-ir ..."""
        return MappingProxyType(self.result.stages if self.result is not None else {})

    @explains_arguments
    def stage(self, name: str) -> CompilationStage:
        """Return one artifact of the compile, such as `llvm-ir-optimized`.

        Parameters
        ----------
        name : str
            A name of `stages()`. UnknownStageError (a KeyError) names those that there are.
        """
        found = self.stages().get(name)
        if found is None:
            raise UnknownStageError(
                f"{self.backend} has no stage {name!r}",
                f"choose from: {', '.join(self.stages()) or 'none'}",
            )
        return found

    @explains_arguments
    def gpu(self: C, **options: Any) -> C:
        """Return the same source compiled for the backend `gpu`.

        `session.gpu(architecture="sm_80")` chooses the GPU. Other options are those of this
        session. No GPU is needed. The same options return the same session again; a session of that
        backend returns itself.

        Parameters
        ----------
        **options
            Options of `xe.compile` for the backend `gpu`. UnknownOptionError for unknown ones.
        """
        own = self.backend == "gpu"
        if own and all(
            self.options.backend_options.get(name) == value for name, value in options.items()
        ):
            return self
        key = tuple(sorted(options.items()))
        if key not in self.gpu_sessions:
            changes = {**options, "backend": "gpu", "threads": None, "check_passes": False}
            # Names of another backend's options and overrides mean nothing to this one.
            self.gpu_sessions[key] = (
                recompiled(self, **changes)
                if own
                else recompiled(self, {}, control=None, **changes)
            )
        found: C = self.gpu_sessions[key]
        return found


@collector_paused()
def compile_as(  # noqa: PLR0913 - the keywords of `xe.compile`
    kind: type[C],
    /,
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
    **backend_options: Any,
) -> C:
    """Compile a module, HLO text or the path of a file into a `kind`; see `xe.compile`."""
    if not isinstance(backend, str):
        raise UnknownBackendError(
            f"no backend is named {reprlib.repr(backend)}",
            "a session takes arrays: xe.compile(module)(*arrays)",
        )
    if "schedules" in backend_options:
        backend_options["schedules"] = given_schedules(backend_options["schedules"])
    if (entry := EntryChoice(function, shapes)).is_made:
        module = as_module(module, filename, entry)
    if mixed_precision:
        module = in_explicit_precision(as_module(module, filename))
    options = CompileOptions(
        passes, journal, threads, check_passes, cache, control, backend_options
    )
    isolation = _isolation(
        backend, passes, isolate, isolation_settings(isolate, timeout, memory_limit, backend)
    )
    check_compile_options(backend, backend_options)
    if isolation is None or has_own_process(backend):
        source = source_of(module, filename, verify)
        with under(bounds_of(isolation)):
            outcome = compiled(source, backend, options, check_values)
    else:
        # Start-up time: a compile in this process needs no messages to a child.
        from xla_explorer.explorer.sessions.isolation import compile_isolated

        given: Any = module  # the child reads texts and files, under its limits
        if isinstance(module, os.PathLike):
            given = Path(module)
        elif not isinstance(module, str | bytes):
            given = as_module(module, filename)
        source, outcome = compile_isolated(
            given,
            filename,
            backend,
            options,
            isolation,
            verify=verify,
            check_values=_plain(check_values),
        )
    record_elided_constants(warn_of_elided_constants(source), outcome.trace)
    if outcome.trace.control.check_values is not None:
        options = replace(options, control=outcome.trace.control)
    made = kind(
        source,
        backend,
        options,
        outcome.trace,
        outcome.result,
        outcome.error,
        outcome.phase,
        outcome.seconds,
    )
    made.isolation = made.passes.isolation = isolation
    if outcome.error is not None and not keep_errors:
        raise CompileFailedError(made) from outcome.error
    return made


def check_compile_options(backend: str, options: Mapping[str, Any]) -> None:
    """Check the keywords of a compile for a backend before it begins.

    UnknownOptionError with the nearest name, UnknownBackendError.
    """
    keywords = (*tuple(inspect.signature(compile_as).parameters)[1:], "force", "forbid")
    platform_with_options(
        backend, {name: value for name, value in options.items() if name not in keywords}, keywords
    )


def recompiled(
    compilation: C,
    kept: Mapping[str, Any] | None = None,
    source: HloModule | None = None,
    **changes: Any,
) -> C:
    """Compile the source again with some keywords of `xe.compile` changed.

    kept: the options of the backend that stay; None: all of them. source: another module in its
    place. The result has the type of the given compilation.
    """
    was = compilation.options
    same = {
        "backend": compilation.backend, "passes": was.passes, "journal": was.journal, "threads": was.threads, "check_passes": was.verify,
        "cache": was.cache, "control": was.control, "isolate": compilation.isolation or False, "verify": False,
        **(was.backend_options if kept is None else kept),
    }  # fmt: skip
    return compile_as(
        type(compilation), compilation.source if source is None else source, **{**same, **changes}
    )


def is_of_xla(compilation: Compilation) -> bool:
    """Return True if real XLA compiled it: a dump, or a backend `xla` of any environment."""
    return compilation.backend == DUMP or has_own_process(compilation.backend)


def program_steps(compilation: Compilation) -> list[ProgramStep]:
    """Return the steps of the program in order; empty if it cannot run."""
    result = compilation.result
    return result.executable.steps if result is not None and result.executable is not None else []


def scope_of(compilation: Compilation, i: HloInstruction) -> tuple[str, ...]:
    """Return the parts of an instruction's name scope, from its metadata or its origins'."""
    lineage = compilation.passes.lineage
    records = [lineage.records.get(key) for key in lineage.origins(i.id)]
    for metadata in (i.metadata, *[record.metadata for record in records if record is not None]):
        if (decoded := parse_metadata(metadata)).op_name:
            return tuple(decoded.scope.split("/"))
    return ()


def source_line(compilation: Compilation, instruction: str | int | HloInstruction) -> str:
    """Return `file:line` of the user's source by metadata, else of the HLO text.

    The text is empty if a pass made the instruction without an origin.
    """
    given = name_or_id(instruction)
    key = compilation.passes.find(given) if isinstance(given, str) else given
    lineage = compilation.passes.lineage
    for origin in lineage.origins(key):
        record = lineage.records.get(origin)
        place = compilation.source_lines.place(
            origin, record.metadata if record is not None else None
        )
        if place:
            return place
        if record is not None and record.opcode.name == "fusion":
            return _fusion_line(compilation, record)
    return ""


def _fusion_line(compilation: Compilation, fusion: InstructionRecord) -> str:
    """Return the line of the fusion's root, or of the nearest instruction that has one."""
    try:
        body = compilation.module.find(fusion.id).called[0].post_order()
    except KeyError:
        return ""
    for i in reversed(body):
        for origin in compilation.passes.lineage.origins(i.id):
            place = compilation.source_lines.place(origin, i.metadata)
            if place:
                return place
    return ""


def _plain(values: Any) -> Any:
    """Return arguments in sendable form: arrays of any library as numpy's."""
    if isinstance(values, tuple | list):
        return tuple([_plain(value) for value in values])
    return (
        values
        if values is None or isinstance(values, bool | int | float | complex)
        else np.asarray(values)
    )


def _isolation(
    backend: str, passes: PipelineLike, explicit: Any, wanted: Isolation | None
) -> Isolation | None:
    """Return the isolation that is possible.

    If it is impossible, an explicit keyword of the call raises, and the default of `xe.options`
    warns.
    """
    if wanted is None or has_own_process(backend):
        return wanted
    # Start-up time, as above.
    from xla_explorer.explorer.sessions.isolation import why_not_sent

    reason = why_not_sent(backend, passes, wanted)
    if reason is None:
        return wanted
    hint = (
        "put it into a module of its own and name that: "
        "isolate=xe.Isolation(imports=('my_module',))"
    )
    if explicit is not None:
        raise XlaExplorerError(f"this cannot be isolated: {reason.message}", hint)
    warn(f"not isolated: {reason.message}; {hint}", RuntimeWarning)
    return None
