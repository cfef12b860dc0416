"""Dumps of real XLA as sessions, with the steps, graphs and code of our own compiles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.xla import dumped_stages, dumped_trace
from xla_explorer.explorer.compiling import compile as compile_module
from xla_explorer.explorer.display import Blocks, Report, Table, wide_frame
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.beside import Beside
from xla_explorer.explorer.sessions.compilation import DUMP, NotThereError
from xla_explorer.explorer.sessions.loading import load_module
from xla_explorer.explorer.trace import Passes
from xla_explorer.explorer.widget import ExplorerView, widget_of
from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.kept import kept
from xla_explorer.foundation.reason import Reason
from xla_explorer.foundation.warning import warn
from xla_explorer.frontends.xla_dump import DumpedModule, DumpError, DumpFolder, read_stages
from xla_explorer.frontends.xla_dump.buffer_assignment import DumpedSlice, parse_buffer_assignment
from xla_explorer.hlo.module import HloModule

if TYPE_CHECKING:
    import pandas


class MainProgramWarning(UserWarning):
    """One of several modules of a dump was taken, as no name was given."""


class XlaDump(Report):
    """A folder that XLA wrote. Only names are read before a module is opened.

    `dump["jit_step"]` (or `dump.session("step")`) is the compile of that module as a session.
    Without a name, calls are about the main program: the module named after a function of the
    user's files. If several are, it is the one with the most operations and bytes. A warning names
    the choice (`choice`).
    """

    def __init__(self, path: str | Path) -> None:
        self.folder = DumpFolder(path)

    @property
    def modules(self) -> pandas.DataFrame:
        """A row per module: number, name, hlo_files, llvm_files; main is the default module."""
        return self.to_frame()

    def records(self) -> Table:
        """Return the rows of `modules`."""
        main = self.folder.module()
        rows = [(m.number, m.name, m.hlo_files, len(m.llvm), m is main) for m in self.folder]
        return Table(["number", "name", "hlo_files", "llvm_files", "main"], rows)

    def session(self, name: str | int | None = None) -> Session:
        """Return the compile of a module as a session. DumpError for unknown names.

        `passes` has the passes that changed something, since XLA dumps no others; `stages` has LLVM
        IR and reports. XLA records no decisions, so `decisions` are replayed.
        """
        if name is None and len(self.folder) > 1:
            warn(self.choice, MainProgramWarning)
        return self._session(self.folder.module(name).number)

    @property
    def choice(self) -> str:
        """The module that was taken as the main program, the reason, and the others."""
        main, why = self.folder.main
        others = [f"{m.name} ({m.number})" for m in self.folder if m is not main]
        more = f" and {len(others) - 6} more" if len(others) > 6 else ""
        return (
            f"{main.name} ({main.number}) was taken of {len(self)} modules: {why}; the others "
            f"are {', '.join(others[:6])}{more}. "
            "dump.session(NAME or NUMBER) takes one of them"
        )

    @kept
    def _session(self, number: int) -> Session:
        return dumped_session(self.folder.module(number))

    __getitem__ = session

    def compile(
        self, name: str | int | None = None, backend: str = "cpu", **options: Any
    ) -> Session:
        """Compile a module of the dump with our compiler, from the text before XLA's passes.

        Unlike a dump, the session has decisions, their reasons and costs, and overrides.
        XLA's result, if it was dumped, stands `beside` it: each fusion decision shows XLA's for the
        same pair.

        options: as `xe.compile` takes them. If the dump omits the values of constants (`{...}`), a
        counter's numbers replace them. Each such constant gets an ElidedConstantsWarning and a
        refused decision of kind `constant-values`.
        """
        dumped = self.folder.module(name)
        before = dumped.before or next((p.path for p in dumped.passes), dumped.after)
        if before is None:
            raise DumpError(
                f"{dumped.name} has no HLO text in the dump", "dump with --xla_dump_hlo_as_text"
            )
        source = load_module(before)
        ours = compile_module(source, backend=backend, **options)
        if dumped.after is not None and dumped.after != before:
            ours.beside = Beside("XLA", source, load_module(dumped.after))
        return ours

    @property
    def passes(self) -> Passes:
        """The passes of the main program."""
        return self.session().passes

    @property
    def module(self) -> HloModule:
        """The main program, optimised."""
        return self.session().module

    def explore(self, name: str | int | None = None, **options: Any) -> ExplorerView:
        """Return the explorer widget of a module."""
        return widget_of(self.session(name)._explorer_source_(), **options)

    def buffers(self, name: str | int | None = None) -> pandas.DataFrame:
        """Return XLA's buffer assignment, one row per value.

        Columns: allocation, allocation_size, role, instruction, shape_index, size, offset, shape.
        Sizes are in bytes.
        """
        path = self.folder.module(name).reports.get("buffer-assignment")
        rows = parse_buffer_assignment(path.read_text()) if path is not None else []
        return wide_frame(rows, list(DumpedSlice._fields))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Session, name):
            raise NotThereError(
                f"a dump of several modules has no {name}",
                f"a session has: dump.session().{name}, or dump[NAME].{name}",
            )
        raise AttributeError(f"'XlaDump' object has no attribute {name!r}")

    def __len__(self) -> int:
        return len(self.folder)

    def headline(self) -> str:
        """Return the folder's name, the number of modules, and the main module."""
        main, why = self.folder.main
        chosen = f" ({why})" if len(self) > 1 else ""
        return f"XlaDump {self.folder.path.name}: {len(self)} modules, main {main.name}{chosen}"

    def blocks(self) -> Blocks:
        """Yield the modules with the most dumped files."""
        rows = [
            (m.number, m.name, m.hlo_files, len(m.llvm))
            for m in sorted(self.folder, key=lambda m: -m.hlo_files)[:40]
        ]
        note = f"{len(self) - len(rows)} more in .modules" if len(self) > len(rows) else ""
        yield Table(["number", "name", "HLO files", "LLVM files"], rows, note=note)


def dumped_session(dumped: DumpedModule) -> Session:
    """Return a module of a dump as a session that cannot run."""
    with collector_paused():
        stages, module = read_stages(dumped)
        trace = dumped_trace(stages, module)
    source = HloModule.from_snapshot(stages[0].snapshot)
    source.filename = stages[0].path.name
    why = Reason(
        "dump-only",
        "this is a dump that XLA wrote: it can be looked at, there is nothing to run",
        {"module": dumped.name},
    )
    result = CompileResult(trace, None, dumped_stages(dumped, source, module), None, {}, why)
    return Session(source, DUMP, CompileOptions(), trace, result, None, "", {})
