"""The options of a pass as a form: a control for each field of its dataclass, and what other options would change."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets
import traitlets

from xla_explorer.compiler.pipeline import HloPass, make_pass, registered_passes
from xla_explorer.explorer.comparisons.comparison import Comparison
from xla_explorer.explorer.display import escape
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.diagnostic import XlaExplorerError


@contextmanager
def problems_shown(place: Any) -> Iterator[None]:
    """Around what a button does: what it raises is shown in a widget beside the button, not in a log that nothing reads."""
    try:
        yield
    except Exception as problem:
        place.value = f"<pre>{type(problem).__name__}: {escape(str(problem))}</pre>"


class PassForm(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets is untyped
    """A form for the options of a pass.

    `options` is a trait with the options that differ from the defaults: it can be observed, linked and set. `made()` is the pass. With a
    session in which the pass ran, the button compiles again with these options; `session` is then the new one, `comparison` what changed.
    """

    options = traitlets.Dict()

    def __init__(self, name: str, session: Session | None = None) -> None:
        if name not in registered_passes():
            raise XlaExplorerError(f"cannot make a form for the pass {name!r}, which is unknown", "xe.passes() lists all")
        self.name, self.session = name, session
        self.comparison: Comparison | None = None
        cls = registered_passes()[name]
        hints = typing.get_type_hints(cls)
        default = make_pass(name)
        running = next((p for p in session.passes.pipeline.passes() if p.name == name), None) if session is not None else None
        self._defaults = {field.name: getattr(default, field.name) for field in dataclasses.fields(cls)}
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
        """The pass with these options."""
        return make_pass(self.name, **self.options)

    def compile(self) -> None:
        """Compile the session again with the pass as the form says, and show what that changes."""
        if self.session is None:
            raise XlaExplorerError("the form has no session", "PassForm(name, session)")
        self.shown.value = "compiling …"
        with problems_shown(self.shown):
            changed = self.session.override(passes=self.session.passes.pipeline.replace(self.name, self.made()))
            self.comparison = changed.compare(self.session, repeats=5)
            self.session = changed
            self.shown.value = self.comparison._repr_mimebundle_()["text/html"]

    def _read(self, _change: object) -> None:
        self.options = {name: c.value for name, c in self.controls.items() if c.value != self._defaults[name]}

    def _write(self, change: Any) -> None:
        for name, control in self.controls.items():
            control.value = change["new"].get(name, self._defaults[name])


def _control(hint: Any, value: Any) -> Any:
    """A control for a field of this type; None where there is none (tuples of names)."""
    if typing.get_origin(hint) is typing.Literal:
        return ipywidgets.Dropdown(options=typing.get_args(hint), value=value)
    if hint is bool:
        return ipywidgets.Checkbox(value=value)
    if hint is int:
        return ipywidgets.IntText(value=value)
    if hint is float:
        return ipywidgets.FloatText(value=value)
    return ipywidgets.Text(value=value) if hint is str else None
