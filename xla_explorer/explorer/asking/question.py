"""Questions: a decorator that registers a method with its typed arguments, and their list.

The arguments are those of the method's signature, so that a question has no second description. A
parameter whose type has no form in JSON, such as an array, is left out; it must have a default.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import annotation_of
from xla_explorer.foundation.suggestions import nearest

F = TypeVar("F", bound=Callable[..., Any])

STEP = "passes[step]"
"""The owner of questions about one pass; `step` is their first argument."""
OWNERS_OF_VIEWS = frozenset({"view", "widget"})
"""Owners of questions that only the explorer's script has: pictures, lines with ids, buttons."""
NOT_ASKED = frozenset({"path", "folder", "others", "schedules"})
"""Parameters that can name files, which no request may read or write."""


class Cost(IntEnum):
    """The cost of an answer: the record is enough, a compile or LLVM again, or a run."""

    INSTANT = 0
    COMPILES = 1
    RUNS = 2


class UnknownQuestionError(XlaExplorerError, ValueError):
    """A question that does not exist, or that does not read an argument."""


class Argument(typing.NamedTuple):
    """An argument of a question.

    Attributes
    ----------
    name : str
        The name of the parameter.
    types : tuple of str
        The JSON types that it takes: `string`, `integer`, `number`, `boolean`, `array`, `null`.
    required : bool
        True if it has no default.
    default : Any
        The default, None if it is required.
    several : bool
        True if the method takes any number of them; the value is a list.
    sentence : str
        The description of the parameter.
    """

    name: str
    types: tuple[str, ...]
    required: bool
    default: Any
    several: bool
    sentence: str

    def schema(self) -> dict[str, Any]:
        """Return the argument as JSON Schema."""
        names = [name for name in self.types if name != "null"]
        kind: dict[str, Any] = {"type": names[0] if len(names) == 1 else names}
        found = {"type": "array", "items": kind} if self.several else kind
        found["description"] = self.sentence
        if self.default is not None and not self.several:
            found["default"] = self.default
        return found


class Question:
    """A question of a session.

    Attributes
    ----------
    name : str
        The path of the method: `decisions`, `passes.costs`, `passes[step].text_diff`, `xla.replay`.
    function : callable
        The method, or a function whose first argument is the session.
    cost : Cost
        What an answer takes.
    noun : str
        The noun of the rows, a key of `explorer.tables.NOUNS`; empty for texts and other rows.
    embed : int
        Rows of the answer that an exported page carries; 0 if a page does not have the answer.
    shown_by : str
        Of a request of a view, the call in Python that shows the same: `session.kernels()`.
    """

    def __init__(
        self,
        owner: str,
        function: Callable[..., Any],
        cost: Cost,
        noun: str,
        embed: int,
        is_property: bool = False,
        name: str = "",
        shown_by: str = "",
    ) -> None:
        self.owner, self.function, self.cost = owner, function, cost
        self.noun, self.embed, self.is_property = noun, embed, is_property
        self.shown_by, own = shown_by, name or function.__name__
        self.name = f"{owner}.{own}" if owner else own

    @property
    def tool(self) -> str:
        """The name as an identifier: `passes_costs`."""
        return re.sub(r"\W+", "_", self.name.replace("[step]", "_step"))

    @cached_property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @property
    def is_function(self) -> bool:
        """True if the session is the first argument of a function, not the owner of a method."""
        return self.owner == "xla"

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments that a request may give."""
        sentences = parameter_sentences(inspect.getdoc(self.function) or "")
        found = []
        if self.owner == STEP:
            found.append(
                Argument("step", ("integer",), True, None, False, "Number of the pass; -1: last.")
            )
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        for p in parameters:
            kinds = json_types(annotation_of(self.function, p))
            if p.kind is p.VAR_KEYWORD or p.name in NOT_ASKED or not kinds:
                continue
            several = p.kind is p.VAR_POSITIONAL
            required = p.default is p.empty and not several
            default = None if p.default is p.empty else p.default
            if isinstance(default, tuple):
                default = list(default) or None
            sentence = sentences.get(p.name, "")
            found.append(Argument(p.name, kinds, required, default, several, sentence))
        return tuple(found)

    def schema(self) -> dict[str, Any]:
        """Return the arguments as JSON Schema."""
        return {
            "type": "object",
            "properties": {a.name: a.schema() for a in self.arguments},
            "required": [a.name for a in self.arguments if a.required],
            "additionalProperties": False,
        }

    def text(self, args: Mapping[str, Any]) -> str:
        """Return the call as a user writes it: `decisions('fusion')`."""
        left = dict(args)
        path = self.name.replace("[step]", f"[{left.pop('step', -1)}]")
        positional = True
        shown: list[str] = []
        for a in [a for a in self.arguments if not (self.owner == STEP and a.name == "step")]:
            if a.name not in left:
                positional = positional and a.several
            elif a.several:
                shown += [repr(value) for value in left[a.name]]
            elif positional and not self._is_keyword(a.name):
                shown.append(repr(left[a.name]))
            else:
                shown.append(f"{a.name}={left[a.name]!r}")
        return path if self.is_property else f"{path}({', '.join(shown)})"

    def _is_keyword(self, name: str) -> bool:
        parameter = inspect.signature(self.function).parameters[name]
        return parameter.kind is parameter.KEYWORD_ONLY

    def __repr__(self) -> str:
        return f"<question {self.name}({', '.join([a.name for a in self.arguments])})>"


_REGISTRY: dict[str, Question] = {}


def question(
    owner: str = "",
    *,
    cost: Cost = Cost.INSTANT,
    noun: str = "",
    embed: int = 0,
    is_property: bool = False,
    name: str = "",
    shown_by: str = "",
) -> Callable[[F], F]:
    """Register a method as a question; the method stays as it is.

    Parameters
    ----------
    owner : str
        The path from a session to the object of the method: `passes`, `llvm`; `xla` for a function
        whose first argument is the session.
    cost : Cost
        What an answer takes.
    noun : str
        The noun of its rows.
    embed : int
        Rows of the answer in an exported page.
    is_property : bool
        The method is the getter of a property, so that a call has no brackets.
    name : str
        The last part of the question's name; by default that of the method.
    shown_by : str
        Of a request of a view, the call in Python that shows the same.

    Examples
    --------
    >>> from xla_explorer.explorer.asking import questions
    >>> import xla_explorer as xe
    >>> xe.Session.__name__, [a.name for a in questions()["decisions"].arguments]
    ('Session', ['kind'])
    """

    def register(function: F) -> F:
        made = Question(owner, function, cost, noun, embed, is_property, name, shown_by)
        _REGISTRY[made.name] = made
        return function

    return register


def questions(*, of_views: bool = False) -> Mapping[str, Question]:
    """Return the questions of sessions by name, in the order of their definition.

    Parameters
    ----------
    of_views : bool
        Return the requests of the explorer's script instead.
    """
    return {name: q for name, q in _REGISTRY.items() if (q.owner in OWNERS_OF_VIEWS) == of_views}


def question_of(name: str) -> Question:
    """Return a question by its name or tool name. UnknownQuestionError with near names."""
    known = _REGISTRY.get(name.replace(" ", "")) or next(
        (q for q in _REGISTRY.values() if q.tool == name), None
    )
    if known is None:
        public = sorted(questions())
        near = nearest(name, public, 3)
        hint = f"near: {', '.join(near)}" if near else f"questions: {', '.join(public)}"
        raise UnknownQuestionError(f"a session has no question {name!r}", hint)
    return known


_JSON: dict[Any, tuple[str, ...]] = {
    str: ("string",),
    int: ("integer",),
    float: ("number", "integer"),
    bool: ("boolean",),
    types.NoneType: ("null",),
    Any: (),
}


def json_types(hint: Any) -> tuple[str, ...]:
    """Return the JSON types of an annotation; none if a value has no form in JSON."""
    if isinstance(hint, typing.Hashable) and hint in _JSON:
        return _JSON[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        found = [name for one in inner for name in json_types(one)]
        return tuple(dict.fromkeys(found)) if set(found) - {"null"} else ()
    if origin is typing.Literal:
        return ("string",)
    if isinstance(origin, type) and issubclass(origin, Iterable | Sequence):
        return ("array",)
    return ()


def parameter_sentences(docstring: str) -> dict[str, str]:
    """Return the descriptions of the section `Parameters` of a docstring, by parameter."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n\S|\Z)", docstring, re.DOTALL)
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.group(1).split("\n") if section is not None else ():
        if line and not line.startswith(" "):
            names = [name.strip(" *") for name in line.partition(" :")[0].split(",")]
        else:
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found
