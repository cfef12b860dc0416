"""The widget to edit a pass pipeline: add, remove, move or replace passes, and set their options.

Only passes that would change something are offered. After every edit the pipeline runs on the
module, each pass verified. A button compiles with it and compares.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets
import traitlets

from xla_explorer.compiler.pipeline import (
    HloPass,
    PassPipeline,
    make_pass,
    optimize,
    parse_pipeline,
    registered_passes,
)
from xla_explorer.explorer.comparisons.comparison import Comparison
from xla_explorer.explorer.display import escape
from xla_explorer.explorer.questions.pass_trials import effective_passes
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.diagnostic import XlaExplorerError


@contextmanager
def problems_shown(place: Any) -> Iterator[None]:
    """Show the exception of a button's action beside the button, not in a hidden log."""
    try:
        yield
    except Exception as problem:
        place.value = f"<pre>{type(problem).__name__}: {escape(str(problem))}</pre>"


class PassForm(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets is untyped
    """A form for the options of a pass.

    `options` is a trait with the options that differ from the defaults: it can be observed, linked
    and set. `made()` is the pass. With a session in which the pass ran, the button compiles again
    with these options; `session` is then the new one, `comparison` what changed.
    """

    options = traitlets.Dict()

    def __init__(self, name: str, session: Session | None = None) -> None:
        if name not in registered_passes():
            raise XlaExplorerError(
                f"cannot make a form for the pass {name!r}, which is unknown",
                "xe.passes() lists all",
            )
        self.name, self.session = name, session
        self.comparison: Comparison | None = None
        cls = registered_passes()[name]
        hints = typing.get_type_hints(cls)
        default = make_pass(name)
        running = (
            next((p for p in session.passes.pipeline.passes() if p.name == name), None)
            if session is not None
            else None
        )
        self._defaults = {
            field.name: getattr(default, field.name) for field in dataclasses.fields(cls)
        }
        self.controls: dict[str, Any] = {}
        for field, value in self._defaults.items():
            control = _control(hints[field], getattr(running, field, value))
            if control is not None:
                control.description, control.style = field, {"description_width": "220px"}
                control.layout.width = "480px"
                control.observe(self._read, "value")
                self.controls[field] = control
        self.shown = ipywidgets.HTML()
        self._again = ipywidgets.Button(description="compile and compare", disabled=running is None)
        self._again.on_click(lambda _button: self.compile())
        head = ipywidgets.HTML(f"<b>{name}</b>" + ("" if self.controls else ": no options"))
        super().__init__([head, *self.controls.values(), self._again, self.shown])
        self._read(None)
        self.observe(self._write, "options")

    def made(self) -> HloPass:
        """Return the pass with these options."""
        return make_pass(self.name, **self.options)

    def compile(self) -> None:
        """Compile the session again with the form's options, and show the effect."""
        if self.session is None:
            raise XlaExplorerError("the form has no session", "PassForm(name, session)")
        self.shown.value = "compiling …"
        with problems_shown(self.shown):
            changed = self.session.override(
                passes=self.session.passes.pipeline.replace(self.name, self.made())
            )
            self.comparison = changed.compare(self.session, repeats=5)
            self.session = changed
            self.shown.value = self.comparison._repr_mimebundle_()["text/html"]

    def _read(self, _change: object) -> None:
        self.options = {
            name: c.value for name, c in self.controls.items() if c.value != self._defaults[name]
        }

    def _write(self, change: Any) -> None:
        for name, control in self.controls.items():
            control.value = change["new"].get(name, self._defaults[name])


def _control(hint: Any, value: Any) -> Any:
    """Return a control for a field of this type; None if there is none (tuples of names)."""
    if typing.get_origin(hint) is typing.Literal:
        return ipywidgets.Dropdown(options=typing.get_args(hint), value=value)
    if hint is bool:
        return ipywidgets.Checkbox(value=value)
    if hint is int:
        return ipywidgets.IntText(value=value)
    if hint is float:
        return ipywidgets.FloatText(value=value)
    return ipywidgets.Text(value=value) if hint is str else None


Path = tuple[int, ...]
"""The place of a step: its number in the pipeline, then in the inner pipeline, and so on."""
_INDENT = "\u2003"
Steps = tuple[HloPass | PassPipeline, ...]


def places(pipeline: PassPipeline, above: Path = ()) -> list[tuple[Path, HloPass | PassPipeline]]:
    """Return every step with its place, nested pipelines before their own steps."""
    found: list[tuple[Path, HloPass | PassPipeline]] = []
    for number, step in enumerate(pipeline.steps):
        found.append(((*above, number), step))
        if isinstance(step, PassPipeline):
            found += places(step, (*above, number))
    return found


def edited_at(
    pipeline: PassPipeline, path: Path, edit: Callable[[Steps, int], Steps]
) -> PassPipeline:
    """Return the pipeline with the steps around a place replaced by the result of `edit`."""
    first, *rest = path
    if not rest:
        return dataclasses.replace(pipeline, steps=edit(pipeline.steps, first))
    inner = pipeline.steps[first]
    assert isinstance(inner, PassPipeline)
    steps = (
        *pipeline.steps[:first],
        edited_at(inner, tuple(rest), edit),
        *pipeline.steps[first + 1 :],
    )
    return dataclasses.replace(pipeline, steps=steps)


class PipelineBuilder(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets is untyped
    """A session's pipeline to edit.

    `text` is a trait with the pipeline in the syntax of `xe.compile(passes=...)`. It can be
    observed, linked and set. `pipeline` is the same as data, `trace` its record on the module, up
    to a failed pass. `compile()` compiles with it and compares with the session.
    """

    text = traitlets.Unicode()

    def __init__(self, session: Session) -> None:
        self.session = session
        self.comparison: Comparison | None = None
        self.pipeline = session.passes.pipeline
        self.list = ipywidgets.Select(
            rows=16,
            layout={"width": "420px"},
            description="passes",
            style={"description_width": "60px"},
        )
        self.new = ipywidgets.Dropdown(description="add", style={"description_width": "70px"})
        self.other = ipywidgets.Dropdown(
            description="swap with", style={"description_width": "70px"}
        )
        self.shown, self.verdict = ipywidgets.HTML(), ipywidgets.HTML()
        self._form = ipywidgets.VBox()
        self.form: PassForm | None = None
        rows = [
            [
                ("up", lambda: self.move(-1)),
                ("down", lambda: self.move(1)),
                ("remove", self.remove),
                ("set options", self.set_options),
            ],
            [("what would change something here?", self.offer)],
        ]
        buttons = [ipywidgets.HBox([_button(*one) for one in row]) for row in rows]
        edits = [
            *buttons,
            ipywidgets.HBox([self.new, _button("add after", self.add)]),
            ipywidgets.HBox([self.other, _button("swap", self.swap)]),
            self._form,
        ]
        super().__init__([
            ipywidgets.HBox([self.list, ipywidgets.VBox(edits)]),
            self.verdict,
            _button("compile and compare", self.compile),
            self.shown,
        ])  # fmt: skip
        self.list.observe(self._chosen, "value")
        self._run()
        self.observe(lambda change: self._set(parse_pipeline(change["new"])), "text")

    # -- edits -------------------------------------------------------------------------------------
    def _set(self, pipeline: PassPipeline, at: Path | None = None) -> None:
        if str(pipeline) != str(self.pipeline):
            self.pipeline = pipeline
            self._run(at)

    def remove(self) -> None:
        """Take the chosen step out."""
        self._set(
            edited_at(self.pipeline, self.list.value, lambda steps, k: steps[:k] + steps[k + 1 :])
        )

    def move(self, by: int) -> None:
        """Move the chosen step among those beside it: -1 up, 1 down."""
        path: Path = self.list.value

        def moved(steps: Steps, k: int) -> Steps:
            to = max(0, min(len(steps) - 1, k + by))
            rest = steps[:k] + steps[k + 1 :]
            return (*rest[:to], steps[k], *rest[to:])

        beside = len([one for one, _ in places(self.pipeline) if one[:-1] == path[:-1]])
        self._set(
            edited_at(self.pipeline, path, moved),
            (*path[:-1], max(0, min(beside - 1, path[-1] + by))),
        )

    def add(self) -> None:
        """Put the pass named in `new` after the chosen step."""
        made = make_pass(self.new.value)
        path: Path = self.list.value
        self._set(
            edited_at(
                self.pipeline, path, lambda steps, k: (*steps[: k + 1], made, *steps[k + 1 :])
            ),
            (*path[:-1], path[-1] + 1),
        )

    def swap(self) -> None:
        """Exchange the places of the chosen pass and the one named in `other`."""
        self._set(self.pipeline.swap(self._step().name, self.other.value))

    def set_options(self) -> None:
        """Give the chosen pass the options of the form."""
        if self.form is not None:
            made = self.form.made()
            self._set(
                edited_at(
                    self.pipeline,
                    self.list.value,
                    lambda steps, k: (*steps[:k], made, *steps[k + 1 :]),
                ),
                self.list.value,
            )

    def offer(self) -> None:
        """Offer only those passes that would change the module after the chosen step."""
        found = places(self.pipeline)
        until = [path for path, _ in found].index(self.list.value) + 1
        before = [step for _, step in found[:until] if not isinstance(step, PassPipeline)]
        offered = effective_passes(
            self._optimized(PassPipeline("before", tuple(before))).module,
            self.session.passes.record.target,
        )
        self.new.options = [
            (f"{row['pass']}  {row['instructions']:+d}", row["pass"])
            for _, row in offered.iterrows()
            if not row["error"]
        ]

    # -- results -----------------------------------------------------------------------------------
    def compile(self) -> None:
        """Compile the session with this pipeline and show what that changes."""
        with problems_shown(self.shown):
            self.comparison = self.session.override(passes=self.pipeline).compare(
                self.session, repeats=5
            )
            self.shown.value = self.comparison._repr_mimebundle_()["text/html"]

    def _optimized(self, pipeline: PassPipeline) -> Any:
        return optimize(
            self.session.source,
            pipeline,
            "passes",
            target=self.session.passes.record.target,
            verify=True,
            keep_errors=True,
        )

    def _run(self, at: Path | None = None) -> None:
        """Run the pipeline, and show the effect of each pass up to a failed one."""
        self.trace = self._optimized(self.pipeline)
        keyed = [
            (re.sub("#[0-9]+", "", step.pipeline), step) for step in self.trace.steps
        ]  # a repeated pipeline is one row
        change = Counter[tuple[str, str]]()
        for where, step in keyed:
            change[where, step.name] += step.instructions_after - step.instructions_before
        changed, failed = [
            {(where, step.name) for where, step in keyed if getattr(step, word)}
            for word in ("changed", "error")
        ]
        labels: list[tuple[str, Path]] = []
        names: dict[Path, str] = {(): self.pipeline.name}
        for path, step in places(self.pipeline):
            names[path] = f"{names[path[:-1]]}/{step.name}"
            key = (names[path[:-1]], step.name)
            mark = " ✗" if key in failed else f"  {change[key]:+d}" if key in changed else ""
            labels.append((_INDENT * len(path) + step.name + mark, path))
        chosen = at if at is not None else self.list.value
        self.list.options = labels
        self.list.value = (
            chosen if chosen in [path for _, path in labels] else labels[0][1] if labels else None
        )
        passes = list(dict.fromkeys([step.name for _, step in places(self.pipeline)]))
        self.other.options = passes
        count = (
            f"{self.trace.module.instruction_count()} instructions (as written: "
            f"{self.session.source.instruction_count()})"
        )
        error = (
            f"<pre>{escape(str(self.trace.error))}</pre>" if self.trace.error is not None else ""
        )
        self.verdict.value = (
            f"{len(changed)} passes change something, {count}; every one verified{error}"
        )
        self.text = str(self.pipeline)

    def _step(self) -> HloPass | PassPipeline:
        return dict(places(self.pipeline))[self.list.value]

    def _chosen(self, _change: object) -> None:
        step = None if self.list.value is None else self._step()
        self.form = None if step is None or isinstance(step, PassPipeline) else PassForm(step.name)
        if self.form is not None and step is not None:
            self.form.options = {name: getattr(step, name) for name in self.form.controls}
        self._form.children = [] if self.form is None else list(self.form.controls.values())


def _button(label: str, act: Callable[[], None]) -> Any:
    made = ipywidgets.Button(description=label, layout={"width": "auto"})
    made.on_click(lambda _button: act())
    return made
