"""Folders of XLA's dumps, profiles, or both: sessions of their modules with XLA's times."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.xla import dumped_trace
from xla_explorer.explorer.measures.kernel_costs import WHOLE_PROGRAM
from xla_explorer.explorer.measures.profiling import spread
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import DUMP
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.explorer.xla.profile import XlaProfile, single_module
from xla_explorer.explorer.xla.recorded_programs import (
    ModuleRow,
    NothingRecordedError,
    RecordedPrograms,
)
from xla_explorer.explorer.xla_dump import dumped_session
from xla_explorer.foundation.reason import Reason
from xla_explorer.frontends.xla_dump import DumpedStage
from xla_explorer.frontends.xla_profile import ProfileError
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule


class RecordedModules(RecordedPrograms):
    """The modules of a folder, the longest first, each a session.

    Parameters
    ----------
    path
        A folder that `--xla_dump_to` or a profiler wrote, one that holds both, or an `*.xplane.pb`
        file.
    """

    def session(self, key: str) -> Session:
        """Return the session of a module by its key, with the profile's times if there are any."""
        row = next((row for row in self.rows if row.key == key), None)
        if row is None:
            raise NothingRecordedError(
                f"{self.name} has no module {key!r}", "choose from the list of modules"
            )
        if key.startswith("dump-") and self._dump is not None:
            session = dumped_session(self._dump.module(int(key.removeprefix("dump-"))))
        else:
            session = self._profiled(row, key)
        if row.time_us is not None:
            join_times(session, self._times_of(key, session.module))
        return session

    def _profiled(self, row: ModuleRow, key: str) -> Session:
        number = key.split("-")[1]
        program = (
            self._profile.program(row.name, int(number) if number else None)
            if self._profile is not None
            else None
        )
        module = program.module if program is not None else None
        if module is None:
            hint = "put the folder of its dump beside the profile"
            raise ProfileError(f"the profile holds no module of {row.name or 'this program'}", hint)
        return _of_one_module(module, row.name)

    def _times_of(self, key: str, module: HloModule) -> XlaProfile:
        assert self._profile is not None
        program = self._program_of[key]
        events = [
            event for event in self._profile.kernels if (event.module, event.program) == program
        ]
        return XlaProfile(program[0], events, partial(single_module, module))


def _of_one_module(module: HloModule, name: str) -> Session:
    stages = [DumpedStage("", "as XLA compiled it", module.snapshot(), Path(f"{name}.hlo"))]
    trace = dumped_trace(stages, module)
    why = Reason(
        "profile-only",
        "this module is from a profile: it can be looked at, there is nothing to run",
        {"module": name},
    )
    return Session(
        module,
        DUMP,
        CompileOptions(),
        trace,
        CompileResult(trace, None, {}, None, {}, why),
        None,
        "",
        {},
    )


def join_times(session: Session, profile: XlaProfile) -> None:
    """Set XLA's recorded times as the session's last profile.

    Kernels, roofline and timeline show them.
    """
    from xla_explorer.explorer.measures.profile_frame import (
        ProfileFrame,
    )  # start-up time: it loads pandas

    cost = module_cost(session.module)
    walls = profile.runs()["wall_us"].tolist()
    whole = Kernel(
        WHOLE_PROGRAM, runs_on="XLA", bytes=int(cost.bytes_accessed), flops=int(cost.flops)
    )
    rows = [whole.measured(*spread(walls), len(walls))]
    known = {i.name: i.id for i in session.module.instructions()}
    for row, i in profile.kernel_rows:
        if i is not None:
            median, iqr = row.median_us or 0.0, row.iqr_us or 0.0
            calls = max((row.per_run_us or 0.0) / median, 1.0) if median else 1.0
            of_run = row._replace(
                runs_on=row.device,
                bytes=int((row.bytes or 0) * calls),
                flops=int((row.flops or 0) * calls),
                instruction=known.get(i.name),
            )
            rows.append(of_run.measured(median * calls, iqr * calls, row.n))
    session.last_profile = ProfileFrame.of(session, rows)
