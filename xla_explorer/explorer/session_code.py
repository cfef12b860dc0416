"""The code of a session: LLVM IR, loop nests, assembly, PTX, kernels and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_explorer.explorer.asking.question import Cost, question
from xla_explorer.explorer.code.annotated_source import AnnotatedSource, annotated_source
from xla_explorer.explorer.code.kernel_schedule import KernelSchedule, schedule_of
from xla_explorer.explorer.code.llvm.llvm_views import Llvm, kernel_code
from xla_explorer.explorer.code.loop_nests import Loops, all_loops, loops_of
from xla_explorer.explorer.code.lowering_steps import KernelSteps, LoopNestText, steps_of
from xla_explorer.explorer.code.program import kernel_table, ptxas_table, sass_code, stage_code
from xla_explorer.explorer.code.side_by_side import SideBySide, side_by_side
from xla_explorer.explorer.display.display import CodeText
from xla_explorer.explorer.measures.buffer_report import BufferReport, buffer_report
from xla_explorer.explorer.sessions.compilation import Compilation
from xla_explorer.explorer.sessions.passes import name_or_id
from xla_explorer.foundation.keywords import explains_methods

if TYPE_CHECKING:
    import pandas


@explains_methods
class SessionCode(Compilation):
    """A compile with its code as methods."""

    @question()
    def llvm_ir(self, optimized: bool = True, *, kernel: str = "") -> CodeText:
        """Return the LLVM IR, after LLVM's passes or before them.

        Parameters
        ----------
        optimized : bool
            Return the IR after LLVM's passes.
        kernel : str
            Only the function of this kernel and its callees, by its name in `kernels()`.
            XlaExplorerError for an unknown one.
        """
        name = "llvm-ir-optimized" if optimized else "llvm-ir"
        whole = stage_code(self, name, "llvm", f"session.llvm_ir({optimized})")
        return (
            CodeText(
                kernel_code(self, name, kernel),
                "llvm",
                f"session.llvm_ir({optimized}, kernel={kernel!r})",
            )
            if kernel
            else whole
        )

    @property
    def llvm(self) -> Llvm:
        """LLVM's part of the compile, such as `.passes(kernel)` and `.remarks(*passes)`."""
        return Llvm(self)

    @question(noun="loop")
    def loops(
        self, kernel: str | int | None = None, schedule: str | None = None
    ) -> LoopNestText | Loops:
        """Return the loop nests of all kernels, or the text of one.

        `session.kernels()` lists the kernels.

        Parameters
        ----------
        kernel : str or int, optional
            The name or id of an instruction or fusion of the optimised module.
        schedule : str, optional
            Directives for the plain nest: `split{j,16},vectorize{ji}`; "" shows the plain nest. By
            default the schedule that the compile chose.

        Returns
        -------
        Loops or LoopNestText
            Of all kernels: nest, schedule and estimate of each, or the reason why it has no nest,
            and a table by family. Of one kernel: one line per loop or value. The end of a line
            names the instruction, and the element that the line computes. Its `steps` are the
            kernel from the plain nest to LLVM IR: `s.loops("fusion").steps.diff("expand-math")`.

        Raises
        ------
        XlaExplorerError
            The kernel has no loop nest, or a directive is illegal; with the Reason and a next step.
        """
        return all_loops(self) if kernel is None else loops_of(self, name_or_id(kernel), schedule)

    @question(cost=Cost.COMPILES)
    def lowering(
        self, kernel: str | int, step: str | int | None = None, schedule: str | None = None
    ) -> KernelSteps | CodeText:
        """Return a kernel from its plain loop nest to LLVM IR, step by step.

        First come the directives of its schedule, then the steps of `codegen/lowering`. The kernel
        is compiled again, alone.

        Parameters
        ----------
        kernel : str or int
            The name or id of the kernel.
        step : str or int, optional
            The name or number of a step: what it changes, as a diff. Without: all steps.
        schedule : str, optional
            Directives for the plain nest, as in `loops`.

        Raises
        ------
        XlaExplorerError
            The kernel has no loop nest, or there is no such step; with a next step.

        Examples
        --------
        >>> import xla_explorer as xe
        >>> text = "HloModule m ENTRY e { x = bf16[64] parameter(0)  ROOT r = bf16[64] tanh(x) }"
        >>> session = xe.compile(text)
        >>> print(session.lowering("wrapped_tanh", "expand-math")[:26])
        --- before
        +++ expand-math
        """
        steps = steps_of(self, name_or_id(kernel), schedule)
        return steps if step is None else steps.diff(step)

    def schedule(self, kernel: str | int) -> KernelSchedule:
        """Return the schedule of a kernel's loop nest, to change and run.

        `s.split("j", 64).vectorize("ji").run()` changes a copy: every call returns a new schedule,
        and the verifier checks the nest after each directive. `override(schedules=[...])` compiles
        with it. `access_patterns()` lists the strides of its loads and stores.

        Parameters
        ----------
        kernel : str or int
            The name or id of the kernel.

        Raises
        ------
        ScheduleError
            The kernel has no loop nest; with the Reason.
        """
        return schedule_of(self, kernel)

    @question()
    def assembly(self) -> CodeText:
        """Return the assembly of the host's CPU, or of `session.gpu()` SASS.

        SASS has its HLO line by line, and needs ptxas and nvdisasm.
        """
        return (
            sass_code(self)
            if self.backend == "gpu"
            else stage_code(self, "assembly", "asm", "session.assembly()")
        )

    @question(cost=Cost.COMPILES)
    def ptx(self, **options: Any) -> CodeText:
        """Return the PTX of the same source, compiled for the backend `gpu` on first use.

        No GPU is needed.

        Parameters
        ----------
        **options
            Those of `gpu`.
        """
        return stage_code(self.gpu(**options), "ptx", "ptx", "session.ptx()")

    @question(noun="kernel")
    def kernels(self, *, resources: bool = False) -> pandas.DataFrame:
        """Return one row per kernel: work, predicted and measured times, limit, source line.

        The columns are the fields of `explorer.tables.Kernel`; stream only if the device has
        several. Times, bytes and operations are of all its calls in one run. Measured ones are
        those of the last `profile`.

        Parameters
        ----------
        resources : bool
            Return what ptxas reports for a GPU instead: emitter, launch, registers, spills, shared
            memory, occupancy and its limit.

        Raises
        ------
        XlaExplorerError
            `resources` is set and ptxas is missing.
        """
        return ptxas_table(self) if resources else kernel_table(self)

    @question(noun="buffer")
    def buffers(self) -> BufferReport:
        """Return the buffer assignment. NotThereError if the backend assigns none."""
        return buffer_report(self)

    @question()
    def side_by_side(self, *stages: str, kernel: str = "") -> SideBySide:
        """Return the HLO lines of each kernel beside the code of each stage.

        Parameters
        ----------
        *stages : str
            Names of stages; optimised LLVM IR and PTX without.
        kernel : str
            Only the kernel that is, or computes, this instruction.
        """
        return side_by_side(self, stages, kernel)

    @question(cost=Cost.RUNS)
    def annotate(self, *arrays: Any, repeats: int = 20, measure: bool = True) -> AnnotatedSource:
        """Return the HLO as it was written, with the code and the time of each line.

        Parameters
        ----------
        *arrays
            The arguments of the program; random ones by default.
        repeats : int
            Timed runs.
        measure : bool
            Profile the program first, if it can run. Otherwise the times are those of the last
            profile.
        """
        return annotated_source(self, arrays if measure else None, repeats)
