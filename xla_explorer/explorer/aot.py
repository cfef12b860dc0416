"""`xe.aot`: a module as an object file and a C header, for programs without Python."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.aot.c_names import c_identifier
from xla_explorer.backends.interfaces import AotCompilationOptions
from xla_explorer.compiler.pipeline.default_pipelines import PipelineLike
from xla_explorer.explorer.display import Blocks, CodeText, Report, Sentence, Table, named_data
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import explained_writing, write_file
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.verifier import verify as verify_module

if TYPE_CHECKING:
    import pandas

    # Start-up time of the command line: code generation.
    from xla_explorer.backends.aot.ahead_of_time import AheadOfTimeProgram

WEIGHTS = ("embed", "pass")


class AotArgumentError(XlaExplorerError, ValueError):
    """An option of `xe.aot` cannot be used."""


def _c_files() -> ModuleType:
    from xla_explorer.backends.aot import c_files  # start-up time: it loads code generation

    return c_files


class AotPackage(Report):
    """A module compiled ahead of time.

    `save(folder)` writes it; `files` are the same bytes by name.
    """

    def __init__(self, program: AheadOfTimeProgram) -> None:
        self.program = program

    @property
    def prefix(self) -> str:
        """The beginning of every exported symbol."""
        return self.program.prefix

    @property
    def workspace_bytes(self) -> int:
        """Bytes that the caller provides for a run, beside inputs and outputs.

        The header has them as `<prefix>_WORKSPACE_BYTES`.
        """
        return self.program.workspace_bytes

    @property
    def object_bytes(self) -> bytes:
        """The object file."""
        return self.program.object_bytes

    @property
    def header(self) -> CodeText:
        """The C header."""
        return CodeText(self.files[f"{self.prefix}.h"].decode(), "c", "package.header")

    @property
    def assembly(self) -> CodeText:
        """The object's assembly."""
        return CodeText(self.program.compiled.assembly_text, "asm", "package.assembly")

    @property
    def build_line(self) -> str:
        """The command that builds the C example."""
        line: str = _c_files().build_line(self.program)
        return line

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Contents by file name: object, header, passed weights, examples and a CMake snippet."""
        found: dict[str, bytes] = _c_files().companion_files(self.program)
        return found

    def _footprint_rows(self) -> list[tuple[str, str, int]]:
        rows: list[tuple[str, str, int]] = [
            (s.kind, s.name, s.bytes) for s in self.program.sections
        ]
        rows = [row for kind in ("text", "data", "bss") for row in rows if row[0] == kind]
        embedded = sum([size for _, _, size in rows])
        if self.program.weights:
            rows.append(("weights", "passed by the caller", len(self.program.weight_bytes)))
        rows.append(
            (
                "workspace",
                "given by the caller, for each run at the same time",
                self.workspace_bytes,
            )
        )
        return [*rows, ("object", "text, data and bss together", embedded)]

    def records(self) -> Table:
        """Return the rows of `footprint`."""
        return Table(["kind", "what", "bytes"], self._footprint_rows())

    @cached_property
    def footprint(self) -> pandas.DataFrame:
        """Bytes of memory of the program.

        A row per section of the object (kind `text`, `data` or `bss`), then the passed weights, the
        workspace, and the sum of the sections.
        """
        return self.to_frame()

    def save(self, folder: str | Path) -> Path:
        """Write the files into a folder, which is made if need be.

        FileWriteError if the system refuses. Returns the folder.
        """
        there = Path(folder)
        with explained_writing(there):
            there.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            write_file(there / name, data)
        return there

    def headline(self) -> str:
        """Return the target and the size of the object."""
        where = " ".join(
            filter(None, (self.program.description.triple, self.program.description.cpu))
        )
        return f"AotPackage {self.prefix} for {where}: {len(self.object_bytes)} bytes of object"

    def blocks(self) -> Blocks:
        """Yield the command that builds the example, and the footprint."""
        yield Sentence(f"build: {self.build_line}")
        yield self.records()

    def json_data(self) -> dict[str, Any]:
        """Return the target, the prefix, the sizes of the files, and the rows of `footprint`."""
        files = {name: len(data) for name, data in self.files.items()}
        about = self.program.description
        return {
            "triple": about.triple,
            "cpu": about.cpu,
            "prefix": self.prefix,
            "files": files,
            "footprint": named_data(self.footprint),
        }


@explains_arguments
def aot(
    module: ModuleLike,
    triple: str = "x86_64-linux-gnu",
    cpu: str | None = None,
    features: str | None = None,
    prefix: str | None = None,
    weights: str = "embed",
    *,
    passes: PipelineLike = "default",
    libraries: bool = False,
) -> AotPackage:
    """Compile a module to an object file with a C entry.

    The object needs neither Python nor a library besides C's own. The code is single-threaded; any
    number of threads may run it.

    Parameters
    ----------
    module : HloModule, str, bytes, path, traced function or session
        The module, as for `xe.compile`.
    triple : str, default `x86_64-linux-gnu`
        LLVM's name of the target, such as `x86_64-linux-gnu`, `aarch64-linux-gnu`,
        `riscv64-linux-gnu`, `wasm32-unknown-unknown`.
    cpu, features : str, optional
        In LLVM's spelling (`x86-64-v3`, `neoverse-v1`; `+v`). By default the triple's baseline; cpu
        `native` is this machine's.
    prefix : str, optional
        The beginning of every name in the header; by default the module's name.
    weights : str, default `embed`
        `embed` constants in the object, or `pass` those of 1 KiB and more in a file whose contents
        the caller passes.
    passes : str or PassPipeline, default `default`
        As for `xe.compile`.
    libraries : bool, default False
        Allow calls of CBLAS and LAPACK, which you then link. JAX's linear algebra needs them,
        except cholesky and triangular systems.

    Returns
    -------
    AotPackage
        The object file, its header and examples; `.save(folder)` writes them.

    Raises
    ------
    HloParseError, HloVerifyError
        The module is malformed.
    AheadOfTimeError
        An instruction has no native code; `.reasons` name each. ElidedConstantsError, one of them:
        the text left constants out (`{...}`).
    UnknownTargetError
        LLVM has no such CPU target.
    AotArgumentError
        prefix or weights cannot be used.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> xe.aot(text, "aarch64-linux-gnu").headline()
    'AotPackage module_main for aarch64-linux-gnu: ... bytes of object'
    """
    from xla_explorer.backends.aot.ahead_of_time import ahead_of_time_program

    source = as_module(module)
    verify_module(source)
    if weights not in WEIGHTS:
        raise AotArgumentError(
            f"weights must be {' or '.join(map(repr, WEIGHTS))}, got {weights!r}",
            f"choose from {', '.join(WEIGHTS)}",
        )
    wanted = prefix if prefix is not None else c_identifier(source.name)
    if prefix is not None and prefix != c_identifier(prefix):
        raise AotArgumentError(
            f"prefix={prefix!r} cannot begin names in C and C++", f"try {c_identifier(prefix)!r}"
        )
    options = AotCompilationOptions(
        triple,
        cpu or "",
        features or "",
        wanted,
        embed_weights=weights == "embed",
        libraries=libraries,
    )
    return AotPackage(ahead_of_time_program(source, options, passes))
