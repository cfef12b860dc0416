"""The magics. Each is a thin wrapper over a public function and returns its object."""

from __future__ import annotations

import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import HTML, display

from xla_explorer.compiler.rewriting import Rule
from xla_explorer.explorer.asking import answer
from xla_explorer.explorer.catalogue import passes
from xla_explorer.explorer.comparisons.comparison import diff
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.display import CodeText, table_html
from xla_explorer.explorer.exploring import explore
from xla_explorer.explorer.measures.profiling import Timing
from xla_explorer.explorer.page.saved_form import saved_html
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.arguments import largest_error, random_arguments
from xla_explorer.explorer.sessions.compilation import CompileFailedError
from xla_explorer.explorer.sessions.options import options
from xla_explorer.explorer.sessions.passes import RecordedPasses
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.jax_program import captured_programs
from xla_explorer.frontends.stablehlo import parse_stablehlo
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.notebook.completion import SHOWN
from xla_explorer.notebook.diagnostics import one_diagnostic
from xla_explorer.notebook.jax_cell import JaxPrograms
from xla_explorer.notebook.magic_arguments import parsed_line, shapes_of, shown_words, words_of

_ASKED = {
    "fusion": "decisions('fusion')", "ir": "llvm_ir()", "asm": "assembly()", "ptx": "ptx()",
    "buffers": "buffers()", "kernels": "kernels()", "code": "side_by_side()",
}  # fmt: skip
"""The question of each word of `--show` that asks one."""
_WIDGETS = "xla_explorer.notebook.explorer_widget"
"""The module of the widget, which is loaded with the first one."""
CHECKED_FLOPS = 2e8
"""Results of modules up to this size are checked against the evaluator."""


def _forms() -> Any:
    """Return the module that has `PassForm` and `PipelineBuilder`."""
    # Start-up time: only forms need ipywidgets.
    from xla_explorer.notebook import pipeline_builder

    return pipeline_builder


@magics_class
class HloMagics(Magics):
    """The magics `%%hlo`, `%%jax` and `%%hlo_rule`, and the line magics.

    Those are `%hlo_ask`, `%hlo_step`, `%hlo_diff`, `%hlo_time`, `%hlo_passes`, `%hlo_form`,
    `%hlo_pipeline` and `%hlo_explore`.
    """

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._at: dict[int, int] = {}
        # By the name of a session, the widget that its cell shows.
        self._explored: dict[str, Any] = {}

    @property
    def _names(self) -> dict[str, Any]:
        """The reader's variables."""
        assert self.shell is not None
        names: dict[str, Any] = self.shell.user_ns
        return names

    @magic_arguments()
    @argument(
        "name",
        nargs="?",
        default="_hlo",
        help="variable that the session is bound to (default: _hlo)",
    )
    @argument(
        "--passes", default="default", help="default, none, or a pipeline such as algsimp,cse,dce"
    )
    @argument(
        "--backend",
        default="cpu",
        help="cpu, gpu, interpreter or a plug-in; several with commas: the first is returned",
    )
    @argument("--show", default="", help="what to show, with commas: " + ",".join(SHOWN))
    @argument("--time", action="store_true", help="profile it")
    @argument(
        "--args",
        default="",
        help="variables to run it on, with commas (default: random arguments, with a note)",
    )
    @argument("--no-run", action="store_true", help="compile only")
    @argument("--save", default="", help="write the exploration to this HTML file")
    @argument("--journal", default="decisions", help="off, passes, decisions, everything")
    @argument(
        "--annotate",
        action="store_true",
        help="each line unfolds to its LLVM IR and PTX, shaded by measured time",
    )
    @argument(
        "--isolate",
        action="store_true",
        help="run the generated code in a child process (default: xe.options.isolate)",
    )
    @argument(
        "--timeout",
        type=float,
        default=None,
        help="with --isolate: seconds that the compile and the run may take",
    )
    @argument(
        "--mixed-precision",
        action="store_true",
        help="accept operands and results of several float precisions, and convert",
    )
    @argument("--mesh", default=None, help="devices, data=2,model=4: show the collectives")
    @argument("--set", default=None, help="annotations, x=data,-;w=-,model")
    @argument("--function", default=None, help="of a StableHLO cell, the function to enter")
    @argument(
        "--shapes",
        default=None,
        help="of a StableHLO cell with dynamic sizes, a list of a shape for each argument, without blanks: [(2,3),()]",
    )
    @cell_magic
    @one_diagnostic
    def hlo(self, line: str, cell: str) -> Any:
        """Compile the HLO text of the cell; bind and return the session."""
        given = parsed_line(self.hlo, line)
        if given is None:
            return None
        wanted = shown_words(given.show)
        if given.time and given.no_run:
            problem = "a profile runs the module; leave out --no-run, or --time"
            raise UsageError(f"argument --time: {problem}")
        if not given.name.isidentifier():
            raise UsageError(f"argument name: {given.name!r} is not a Python variable name")
        sessions = self._compiled(given, cell)
        session = self._bound(given.name, sessions)
        if not given.no_run:
            for one in sessions.values():
                if one.result is not None and one.result.executable is not None:
                    self._run(one, given)
        for word in wanted:
            self._show(word, session, given.name)
        if given.mesh:
            display(session.devices.collectives)
        if given.annotate:
            display(session.annotate(*self._arguments(given.args), measure=not given.no_run))
        if given.save:
            print(f"written: {session.save(given.save)}")
        if wanted or given.time or given.annotate:
            session._brief_once = True
        return session

    def _compiled(self, given: Any, cell: str) -> dict[str, Session]:
        """Return the sessions of a cell by backend; a failed one is bound and shown first."""
        backends = [name for name in given.backend.split(",") if name] or ["cpu"]
        sessions = {}
        # The blank line replaces the magic's, so that line numbers are those of the cell.
        text = "\n" + cell
        module = (
            text
            if given.function is None and given.shapes is None
            else parse_stablehlo(
                text, "<%%hlo>", function=given.function, shapes=shapes_of(given.shapes)
            )
        )
        for backend in backends:
            try:
                sessions[backend] = compile(
                    module,
                    backend,
                    given.passes,
                    given.journal,
                    filename="<%%hlo>",
                    isolate=True if given.isolate else None,
                    timeout=given.timeout,
                    mixed_precision=given.mixed_precision,
                    mesh=given.mesh,
                    shardings=given.set,
                )
            except CompileFailedError as problem:
                # What happened before the failure stays in the hands of the reader.
                self._names[given.name] = problem.session
                display(problem.session)
                raise
        return sessions

    def _bound(self, name: str, sessions: dict[str, Session]) -> Session:
        """Bind the first session to a name and the others to `name_backend`; return the first."""
        (_, session), *others = sessions.items()
        old, self._names[name] = self._names.get(name), session
        if _WIDGETS in sys.modules:  # else there is no widget to update
            sys.modules[_WIDGETS].follow(old, session)
        for backend, other in others:
            self._names[f"{name}_{backend}"] = other
        if "gpu" in sessions and session.backend != "gpu":
            session.gpu_sessions[()] = sessions["gpu"]
        return session

    @magic_arguments()
    @argument(
        "name",
        nargs="?",
        default="_jax",
        help="variable that the programs are bound to (default: _jax)",
    )
    @argument(
        "--passes", default="default", help="default, none, or a pipeline such as algsimp,cse,dce"
    )
    @argument("--backend", default="cpu", help="cpu, gpu, interpreter, xla or a plug-in")
    @argument("--journal", default="decisions", help="off, passes, decisions, everything")
    @argument(
        "--show",
        default="",
        help="what to show of the largest program, with commas: " + ",".join(SHOWN),
    )
    @argument("--explore", action="store_true", help="open the explorer on the largest program")
    @cell_magic
    @one_diagnostic
    def jax(self, line: str, cell: str) -> Any:
        """Run the cell; compile what JAX compiled in it, and bind and return the sessions.

        `NAME.largest` is mostly the program of interest.
        """
        given = parsed_line(self.jax, line)
        if given is None:
            return None
        wanted = shown_words(given.show)
        assert self.shell is not None
        with captured_programs() as modules:
            outcome = self.shell.run_cell(cell, store_history=False)
        if not outcome.success:
            return None  # IPython has shown the error
        programs = JaxPrograms(
            [compile(m, given.backend, given.passes, given.journal) for m in modules]
        )
        self._names[given.name] = programs
        for word in wanted:
            self._show(word, programs.largest)
        if given.explore:
            display(explore(programs.largest))
        return programs

    def _arguments(self, text: str) -> list[Any]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        missing = [name for name in names if name not in self._names]
        if missing:
            raise UsageError(f"argument --args: no variable is named {missing[0]!r}")
        return [self._names[name] for name in names]

    def _run(self, session: Session, given: Any) -> None:
        arguments = self._arguments(given.args)
        if not arguments and session.signature.shapes:
            arguments = list(random_arguments(session.source))
            print(f"{session.backend}: random arguments (xe.random_arguments, seed 0)")
        leaves = session.signature.leaves(arguments)
        values = session.executable.execute(leaves)
        if session.backend != "interpreter" and module_cost(session.source).flops <= CHECKED_FLOPS:
            error, fine = largest_error(flatten_value(evaluate(session.source, *leaves)), values)
            print(
                f"{session.backend}: {'agrees with' if fine else 'DIFFERS from'} the evaluator (largest error {error:.2g})"
            )
        if given.time:
            display(session.profile(*arguments))

    def _show(self, word: str, session: Session, name: str = "") -> None:
        if word == "passes":
            display(session.passes)
        elif word == "graph":
            display(session.passes[-1].graph())
        elif word == "fusion":
            columns = ["verdict", "subjects", "code", "reason"]
            rows = answer(session, _ASKED[word]).value[columns].values.tolist()
            display(HTML(table_html("Fusion decisions", columns, rows)))
        elif word == "explore":
            known = self._explored.get(name)
            if known is None or known not in sys.modules[_WIDGETS].widgets_of(session):
                known = self._explored[name] = explore(session)
            display(known)
        elif word == "html":
            display(HTML(saved_html(session._explorer_source_(), options.embed)))
        else:
            display(answer(session, _ASKED[word]).value)

    # -- line magics -------------------------------------------------------------------------------
    def _value(self, name: str) -> Any:
        if name not in self._names:
            raise UsageError(f"no variable is named {name!r}")
        return self._names[name]

    @line_magic
    @one_diagnostic
    def hlo_step(self, line: str) -> Any:
        """`%hlo_step [NAME] [N | next | prev]`: the diff of a pass, by default the next one."""
        words = words_of(line)
        name = (
            words[0]
            if words and not words[0].lstrip("-").isdigit() and words[0] not in ("next", "prev")
            else "_hlo"
        )
        where = next((w for w in words if w != name), "next")
        thing = self._value(name)
        ran = getattr(thing, "passes", None)
        if not isinstance(ran, RecordedPasses):
            raise UsageError(f"{name} is a {type(thing).__name__}, neither a session nor a trace")
        changed = [p.number for p in ran if p.changed]
        if not changed:
            return CodeText("no pass changed the module")
        last = self._at.get(id(ran), 0)
        if where == "next":
            index = next((k for k in changed if k > last), changed[0])
        elif where == "prev":
            index = next((k for k in reversed(changed) if k < last), changed[-1])
        elif where.lstrip("-").isdigit() and -len(ran) <= int(where) < len(ran):
            index = ran[int(where)].number
        else:
            wanted = f"next, prev or a number from 0 (as written) to {ran.last}"
            raise UsageError(f"step {where!r}: {wanted}")
        self._at[id(ran)] = index
        step = ran[index]
        print(
            f"pass {index} of {ran.last}, {step.pipeline}/{step.name}: {step.instructions_before} -> "
            f"{step.instructions} instructions, {step.rewrites} rules applied"
        )
        if not step.changed:
            return CodeText("it changed nothing")
        return answer(thing, f"passes[{index}].text_diff()").value

    @line_magic
    @one_diagnostic
    def hlo_ask(self, line: str) -> Any:
        """`%hlo_ask [NAME] CALL`: the answer to a question, such as `%hlo_ask f kernels()[:5]`."""
        name, _, call = line.strip().partition(" ")
        if not name.isidentifier() or not call:
            name, call = "_hlo", line
        return answer(self._value(name), call.strip())

    @line_magic
    @one_diagnostic
    def hlo_diff(self, line: str) -> Any:
        """`%hlo_diff a b`: the texts of two modules or sessions as a unified diff."""
        words = words_of(line)
        if len(words) != 2:
            raise UsageError("%hlo_diff takes two names: %hlo_diff a b")
        try:
            return diff(self._value(words[0]), self._value(words[1])) or CodeText(
                "no difference: the two are the same text"
            )
        except TypeError as problem:
            raise UsageError(str(problem)) from None

    @line_magic
    @one_diagnostic
    def hlo_time(self, line: str) -> Timing:
        """`%hlo_time [-r N] f x y`: time calls of a session or module on variables.

        A module is compiled for the CPU.
        """
        words = words_of(line)
        repeats = None
        if words[:1] == ["-r"]:
            if len(words) < 2 or not words[1].isdigit():
                raise UsageError("-r takes a number of runs")
            repeats, words = int(words[1]), words[2:]
        if not words:
            raise UsageError("%hlo_time takes a session and its arguments: %hlo_time f x y")
        thing = self._value(words[0])
        try:
            session = thing if isinstance(thing, Session) else compile(thing)
        except TypeError as problem:
            raise UsageError(str(problem)) from None
        return session.time(*[self._value(name) for name in words[1:]], repeats=repeats)

    @line_magic
    @one_diagnostic
    def hlo_passes(self, line: str) -> Any:
        """`%hlo_passes [TEXT]`: the passes there are, those whose name or sentence holds TEXT."""
        frame = passes()
        word = line.strip()
        if word:
            frame = frame[
                frame["pass"].str.contains(word, regex=False)
                | frame["summary"].str.contains(word, regex=False, case=False)
            ]
            if frame.empty:
                raise UsageError(
                    f"no pass has {word!r} in its name or sentence; %hlo_passes alone lists all"
                )
        return frame

    @line_magic
    @one_diagnostic
    def hlo_form(self, line: str) -> Any:
        """`%hlo_form PASS [NAME]`: the options of a pass as a form.

        With a session, a button compiles with the options and compares.
        """
        words = words_of(line)
        if not words:
            raise UsageError(
                "%hlo_form takes a pass: %hlo_form fusion [NAME]; %hlo_passes lists them"
            )
        session = self._value(words[1]) if len(words) > 1 else self._names.get("_hlo")
        return _forms().PassForm(words[0], session if isinstance(session, Session) else None)

    @line_magic
    @one_diagnostic
    def hlo_pipeline(self, line: str) -> Any:
        """`%hlo_pipeline [NAME]`: a session's pipeline as a list to edit, with a comparison."""
        session = self._value(line.strip() or "_hlo")
        if not isinstance(session, Session):
            raise UsageError(f"{line.strip()} is a {type(session).__name__}, not a session")
        return _forms().PipelineBuilder(session)

    @cell_magic
    @one_diagnostic
    def hlo_rule(self, line: str, cell: str) -> None:
        """`%%hlo_rule [NAME]`: run the cell, and try each rule that it declares on a session.

        The result has the matches, the near misses, and the replacements.
        """
        thing = self._value(line.strip() or "_hlo")
        assert self.shell is not None
        before = {id(value) for value in self._names.values()}
        if not self.shell.run_cell(cell).success:
            return
        rules = [
            value
            for value in self._names.values()
            if isinstance(value, Rule) and id(value) not in before
        ]
        if not rules:
            raise UsageError(
                "the cell declares no rule: @xe.rule(pattern, ...) above a function makes one"
            )
        for one in rules:
            display(thing.passes.try_rule(one))

    @line_magic
    @one_diagnostic
    def hlo_explore(self, line: str) -> Any:
        """`%hlo_explore [NAME]`: the widget."""
        thing = self._value(line.strip() or "_hlo")
        if isinstance(thing, XlaExplorerError):
            thing = getattr(thing, "session", thing)
        return explore(thing)
