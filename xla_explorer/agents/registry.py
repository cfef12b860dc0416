"""The registry of tools that a model can call (Model Context Protocol).

A tool is a function with typed parameters, or a question of the registry of questions. JSON schema,
checks of arguments and the list of tools are derived from it; `tool` registers a new function.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from xla_explorer.agents.budget import LEAST_TOKENS, MOST_TOKENS, Part, Reply, cells, text_part
from xla_explorer.agents.folders import RefusedError
from xla_explorer.agents.workspace import Workspace
from xla_explorer.explorer.asking import Cost, answer, questions
from xla_explorer.explorer.asking.reply import Reply as AskedReply
from xla_explorer.explorer.session import Session
from xla_explorer.foundation.suggestions import nearest

_MOST_CHARACTERS: Final = 300
_MOST_ITEMS: Final = 32
_LONG: Final = {"text": 400_000}
_MOST_NUMBER: Final = 10_000
_PATTERN: Final = re.compile(r"(?:^|[\s'\"-])/")
_CHARACTERS: Final = r"%\w.\-<>\[\],:/ =*@+()'\""
_NAME: Final = re.compile(rf"[{_CHARACTERS}]*\Z")
_CALL: Final = re.compile(rf"[{_CHARACTERS};{{}}]*\Z")
"""A call has annotations too: 'w=-,model; x=data,-'."""
_DEFAULT_TOKENS: Final = 1200

# A parameter has one meaning in all tools.
PARAMETERS: Final = {
    "program": "handle of an open program, such as p1",
    "other": "handle of another open program",
    "path": "file below the folders of the server, or example:attention, example:mlp_train",
    "text": "HLO or StableHLO text instead of a path",
    "backend": "compiler: cpu, gpu (PTX, emulated), interpreter (no fusion), xla (real XLA)",
    "passes": "pipeline: default, none, or names with commas such as algsimp,cse,dce",
    "kind": "kind of decision; decisions() names those of a program",
    "verdict": "which decisions",
    "about": "only what is about this instruction (%name) or line (file.py:12)",
    "producer": "instruction whose value is used, such as %exp.1",
    "consumer": "instruction that uses it; for kinds of one subject leave it out",
    "instruction": "instruction by its %name",
    "kernel": "kernel by its %name, or an instruction inside it",
    "line": "source line or file, such as model.py:12",
    "step": "number of a pass; 0 is the program as written, -1 the last",
    "force": 'decisions to take, such as ["fusion %exp.1 %add.2"]',
    "forbid": "decisions to refuse, in the same form",
    "skip_rules": "rules, merges or kinds of decision to switch off",
    "measure": "also run both programs and compare times and values",
    "call": "a question of the registry, such as passes.history('%exp.1')",
    "query": "terms that must all hold: op:dot shape:f32[*,768] bytes>1M line:model.py:40 words",
    "claim": "bitwise, numeric, a number of ulps, real or fast",
    "handle": "handle of the rest of an answer, such as r3",
    "tokens": f"largest answer, {LEAST_TOKENS} to {MOST_TOKENS} tokens",
}


class Tool(NamedTuple):
    """A tool. cost: of its answer. run: the function. properties: JSON schemas by argument."""

    name: str
    sentence: str
    cost: Cost
    run: Callable[..., Reply]
    properties: Mapping[str, dict[str, Any]]
    required: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        budget = {
            "type": "integer",
            "minimum": LEAST_TOKENS,
            "maximum": MOST_TOKENS,
            "default": _DEFAULT_TOKENS,
            "description": PARAMETERS["tokens"],
        }
        return {
            "type": "object",
            "properties": {**self.properties, "tokens": budget},
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS: dict[str, Tool] = {}


def tool(cost: Cost) -> Callable[[Callable[..., Reply]], Callable[..., Reply]]:
    """Register a function of a workspace and of typed parameters as a tool."""

    def register(function: Callable[..., Reply]) -> Callable[..., Reply]:
        name = function.__name__.rstrip("_")
        signature = inspect.signature(function, eval_str=True)
        parameters = dict(list(signature.parameters.items())[1:])
        properties = {key: _schema_of(key, one) for key, one in parameters.items()}
        required = tuple(n for n, one in parameters.items() if one.default is one.empty)
        sentence = " ".join((function.__doc__ or "").split())
        TOOLS[name] = Tool(name, sentence, cost, function, properties, required)
        return function

    return register


def question_tool(name: str, question: str, hint: str = "") -> None:
    """Register a question of the registry of questions as a tool of an open program."""
    found = questions()[question]

    def run(work: Workspace, program: str, **given: Any) -> Reply:
        reply = asked(work, work.program(program), question, given)
        hints = [hint.format(program=program)] if hint else []
        return Reply(head_of(reply), parts_of(reply), hints)

    schema = found.schema()
    program = {"type": "string", "maxLength": 20, "description": PARAMETERS["program"]}
    properties = {"program": program, **schema["properties"]}
    required = ("program", *schema["required"])
    TOOLS[name] = Tool(name, found.summary, found.cost, run, properties, required)


def asked(
    work: Workspace, session: Session, call: str, given: Mapping[str, Any] | None = None
) -> AskedReply:
    """Return the answer to a question of a session, if this server may give it."""
    return answer(session, call, given, most=Cost.RUNS if work.limits.runs else Cost.COMPILES)


def head_of(reply: AskedReply) -> str:
    """Return the headline of a table; a text has its own."""
    return reply.headline() if reply.rows is not None else ""


def parts_of(reply: AskedReply) -> list[Part]:
    """Return the rows or lines of an answer, the most important first."""
    if reply.rows is None or reply.columns is None:
        return [text_part("\n".join(reply.lines or []))]
    return [cells(reply.columns, reply.rows)]


def answered(workspace: Workspace, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the answer of a tool as text within its budget; RefusedError for wrong arguments."""
    if name not in TOOLS:
        raise RefusedError(f"no tool {name[:60]!r}", f"tools: {', '.join(TOOLS)}")
    found = TOOLS[name]
    given = dict(arguments)
    budget = given.pop("tokens", _DEFAULT_TOKENS)
    if not _is_integer(budget) or not LEAST_TOKENS <= budget <= MOST_TOKENS:
        raise RefusedError(
            f"tokens must be from {LEAST_TOKENS} to {MOST_TOKENS}, got {budget!r:.40}"
        )
    _check(found, given)
    if not workspace.lock.acquire(timeout=workspace.limits.seconds):
        raise RefusedError("another question still runs", "ask again, or for less")
    try:
        with workspace.bounded(isolate=found.cost >= Cost.RUNS):
            return found.run(workspace, **given).fitted(budget, workspace.keep)
    finally:
        workspace.lock.release()


def _check(found: Tool, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if name not in found.properties:
            guess = nearest(name, list(found.properties), 1)
            raise RefusedError(
                f"{found.name} has no argument {name[:60]!r}",
                f"did you mean {guess[0]}?" if guess else f"it has {', '.join(found.properties)}",
            )
        _check_value(name, found.properties[name], value)
    missing = [name for name in found.required if name not in given]
    if missing:
        about = PARAMETERS.get(missing[0], "required")
        raise RefusedError(f"{found.name} needs {missing[0]}: {about}")


def _check_value(name: str, schema: Mapping[str, Any], value: Any) -> None:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "enum" in schema and value not in schema["enum"]:
        words = ", ".join(map(str, schema["enum"]))
        raise RefusedError(f"{name} must be one of {words}; got {value!r:.60}")
    if isinstance(value, list) and "array" in kinds:
        if len(value) > _MOST_ITEMS:
            raise RefusedError(f"{name} must have at most {_MOST_ITEMS} items")
        for item in value:
            _check_text(name, item)
    elif isinstance(value, bool):
        _require("boolean" in kinds, name, kinds, value)
    elif isinstance(value, int | float):
        whole = "integer" in kinds and isinstance(value, int)
        _require(whole or "number" in kinds, name, kinds, value)
        if not -_MOST_NUMBER <= value <= _MOST_NUMBER:
            raise RefusedError(f"{name} must be at most {_MOST_NUMBER}, got {value!r:.60}")
    else:
        _require("string" in kinds, name, kinds, value)
        _check_text(name, value)


def _require(fits: bool, name: str, kinds: list[str], value: Any) -> None:
    if not fits:
        raise RefusedError(f"{name} must be {' or '.join(kinds)}, got {value!r:.60}")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise RefusedError(f"{name} must be a text, got {value!r:.60}")
    most = _LONG.get(name, _MOST_CHARACTERS)
    if len(value) > most:
        raise RefusedError(f"{name} has {len(value)} characters, more than {most}")
    pattern = _CALL if name == "call" else _NAME
    if name not in _LONG and name != "path" and pattern.match(value) is None:
        raise RefusedError(f"{name} has characters that no name has: {value[:60]!r}")
    if name in ("query", "call") and _PATTERN.search(value):
        raise RefusedError("patterns between slashes are not accepted here", "use words")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _schema_of(name: str, parameter: inspect.Parameter) -> dict[str, Any]:
    kind = parameter.annotation
    found: dict[str, Any]
    if typing.get_origin(kind) is Literal:
        found = {"type": "string", "enum": list(typing.get_args(kind))}
    elif kind is bool:
        found = {"type": "boolean"}
    elif kind is int:
        found = {"type": "integer"}
    elif typing.get_origin(kind) is list:
        found = {"type": "array", "items": {"type": "string"}, "maxItems": _MOST_ITEMS}
    else:
        found = {"type": "string", "maxLength": _LONG.get(name, _MOST_CHARACTERS)}
    if parameter.default is not parameter.empty:
        found["default"] = parameter.default
    return {**found, "description": PARAMETERS[name]}
