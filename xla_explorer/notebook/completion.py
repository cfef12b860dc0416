"""Completion: words of `%%hlo` and its text, and names in calls such as `session.explain("%`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from IPython.core.completer import SimpleCompletion

from xla_explorer.backends.registry import backend_names
from xla_explorer.compiler.pipeline import registered_passes
from xla_explorer.explorer.sessions.passes import RecordedPasses
from xla_explorer.hlo.opcodes import OPCODES

SHOWN = (
    "explore",
    "graph",
    "passes",
    "fusion",
    "ir",
    "asm",
    "ptx",
    "buffers",
    "kernels",
    "code",
    "html",
)
OPTIONS = (
    "--passes",
    "--backend",
    "--show",
    "--time",
    "--args",
    "--no-run",
    "--save",
    "--journal",
    "--annotate",
    "--isolate",
    "--timeout",
)
JAX_OPTIONS = ("--passes", "--backend", "--show", "--journal", "--explore")
_WORD = re.compile(r"\S*$")
_OPCODE_PLACE = re.compile(r"=\s*(?:\([^)]*\)|\S+)\s+([a-z\-]*)$")


def register_completion(shell: Any) -> None:
    """Add the completion of `%%hlo` and `%%jax` cells to a shell's completer, once."""
    matchers = getattr(getattr(shell, "Completer", None), "custom_matchers", None)
    if matchers is not None and complete_cell not in matchers:
        matchers += [complete_cell, NameCompletion(shell.user_ns).complete]


def complete_cell(context: Any) -> dict[str, Any]:
    """Return candidates for the word at the cursor of a `%%hlo` or `%%jax` cell.

    They replace Python's names. Source: IPython's matcher API.
    """
    cell, typed = context.full_text, context.text_until_cursor
    found: list[str] = []
    if cell.startswith(("%%hlo", "%%jax")) and " " in cell.partition("\n")[0]:
        if context.cursor_line == 0:
            found = magic_line_candidates(typed)
        elif cell.startswith("%%hlo"):
            found = opcode_candidates(typed)
    word = _WORD.search(typed)
    completions = [SimpleCompletion(text=text, type="keyword") for text in found]
    fragment = word[0] if word is not None and found else context.token
    return {
        "completions": completions,
        "matched_fragment": fragment,
        "suppress": bool(found),
        "ordered": bool(found),
    }


complete_cell.matcher_api_version = 2  # type: ignore[attr-defined]  # set by IPython's decorator `context_matcher`


def magic_line_candidates(text: str) -> list[str]:
    """Return the possible words at the end of the magic line."""
    words = text.split(" ")
    current, before = words[-1], words[-2] if len(words) > 1 else ""
    prefix, comma, last = current.rpartition(",")
    choices: tuple[str, ...]
    if before == "--passes":
        choices = ("default", "none", *sorted(registered_passes()))
    elif before == "--backend":
        choices = tuple(backend_names())
    elif before == "--show":
        choices = SHOWN
    elif before == "--journal":
        choices = ("off", "passes", "decisions", "everything")
    else:
        choices = JAX_OPTIONS if words[0] == "%%jax" else OPTIONS
    return [prefix + comma + choice for choice in choices if choice.startswith(last)]


def opcode_candidates(text: str) -> list[str]:
    """Return opcodes that fit at the end of a line of HLO, after `name = shape `."""
    found = _OPCODE_PLACE.search(text)
    return [name for name in OPCODES if name.startswith(found.group(1))] if found else []


class NameCompletion:
    """Names in the texts of calls: instructions, kernels, kinds of decision and passes.

    The parameter at the cursor decides, as in `session.explain("%e`. Source: IPython's matcher API.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables

    def complete(self, context: Any) -> dict[str, Any]:
        """Return the names that can stand at the cursor."""
        found = _CALL.search(context.text_until_cursor)
        names = self.candidates(*found.groups()) if found is not None else []
        typed = found[4] if found is not None and names else context.token
        return {
            "completions": [SimpleCompletion(text=name, type="text") for name in names],
            "matched_fragment": typed,
            "suppress": bool(names),
            "ordered": bool(names),
        }

    complete.matcher_api_version = 2  # type: ignore[attr-defined]  # see `complete_cell`

    def candidates(self, name: str, path: str, before: str, typed: str) -> list[str]:
        """Return names for a text of a call of an object's method, after the texts `before`."""
        owner = self._variables.get(name)
        passes = getattr(owner, "passes", None)
        if not isinstance(passes, RecordedPasses):
            return []
        *inner, method = path.strip(".").split(".")
        target = getattr(owner, inner[0], None) if inner in (["passes"], ["llvm"]) else owner
        parameter = _parameter(getattr(type(target), method, None), before)
        names = _NAMES.get(parameter, lambda _: [])(owner)
        wanted = typed.lstrip("%")
        return [name for name in names if name.lstrip("%").startswith(wanted)][:MOST_NAMES]


MOST_NAMES = 200
_CALL = re.compile(r"(\w+)((?:\.\w+)+)\(((?:[^()\"']|\"[^\"]*\"|'[^']*')*)[\"']([^\"']*)$")


def _parameter(method: Any, before: str) -> str:
    """Return the name of the parameter after the text of the arguments before it."""
    if method is None:
        return ""
    named = re.search(r"(\w+)\s*=\s*$", before)
    if named is not None:
        return named[1]
    parameters = list(inspect.signature(method).parameters.values())[1:]
    place = len([part for part in before.split(",") if part.strip()])
    several = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
    if place < len(parameters):
        return parameters[place].name
    return several[0].name if several else ""


def _instructions(session: Any) -> list[str]:
    return [f"%{name}" for name in session.passes.lineage.ids_by_name]


def _kernels(session: Any) -> list[str]:
    return [str(name) for name in session.kernels()["kernel"]]


def _kinds(session: Any) -> list[str]:
    return sorted(set(session.decisions()["kind"]))


def _pass_names(session: Any) -> list[str]:
    return list(dict.fromkeys([one.name for one in session.passes]))


_NAMES: Mapping[str, Callable[[Any], list[str]]] = {
    "instruction": _instructions,
    "subjects": _instructions,
    "kernel": _kernels,
    "kind": _kinds,
    "name": _pass_names,
    "names": _pass_names,
}
"""The names that a parameter takes."""
