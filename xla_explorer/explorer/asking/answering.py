"""`answer`: the one way from a request to an answer; it checks the request by the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xla_explorer.explorer.asking.budget import NO_LIMIT, Budget
from xla_explorer.explorer.asking.call_text import Call, parse_call
from xla_explorer.explorer.asking.question import (
    STEP,
    Argument,
    Cost,
    Question,
    UnknownQuestionError,
    question_of,
)
from xla_explorer.explorer.asking.reply import Reply
from xla_explorer.foundation.suggestions import nearest

_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": (list, tuple),
    "null": type(None),
}  # fmt: skip
_WORDS = {
    "string": "a text", "integer": "an integer", "number": "a number", "boolean": "True or False",
    "array": "a list", "null": "None",
}  # fmt: skip


def answer(
    session: Any,
    call: str,
    args: Mapping[str, Any] | None = None,
    *,
    budget: Budget = NO_LIMIT,
    most: Cost = Cost.RUNS,
    page: str = "",
) -> Reply:
    """Answer a question of a session.

    Parameters
    ----------
    session : Session or Trace
        The compile.
    call : str
        The name of a question, with `args`; or the whole call as text, `decisions('fusion')[20:]`.
    args : mapping, optional
        The arguments by name, as JSON data.
    budget : Budget
        The most characters, rows or tokens of the answer. The most important rows come first; the
        reply counts the others and has the call that shows them.
    most : Cost
        The most that the answer may take.
    page : str
        A page that the session saved; the reply has a link to what its first row is about.

    Returns
    -------
    Reply
        `to_json()` and `to_text()` fit the budget; `value` is what the method returned.

    Raises
    ------
    CallError
        `call` is no call.
    UnknownQuestionError
        The question does not exist, does not read an argument, or costs more than `most`.
    XlaExplorerError
        The session has no answer.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> from xla_explorer.explorer.asking import Budget, answer
    >>> text = '''ENTRY main { x = f32[64] parameter(0) e = f32[64] exponential(x)
    ...   ROOT r = f32[64] add(e, x) }'''
    >>> answer(xe.compile(text), "kernels()", budget=Budget(rows=1)).to_json()["rows"][0][1]
    'fusion'
    """
    parsed = parse_call(call) if args is None else Call(call, (), dict(args))
    found, given = checked_call(parsed)
    if found.cost > most:
        raise UnknownQuestionError(
            f"{found.name} is not answered here: its cost is {found.cost.name.lower()}",
            f"questions of at most {most.name.lower()} are",
        )
    value = _called(session, found, given)
    return Reply(found, given, value, parsed.start, parsed.stop, budget, page)


def value_of(targets: Mapping[str, Any], call: str, args: Mapping[str, Any]) -> Any:
    """Return what a question returns, for a request of a view.

    Parameters
    ----------
    targets : mapping
        The objects that answer, by the owner of their questions.
    call : str
        The name of a question, with its owner.
    args : mapping
        The arguments by name, as JSON data.

    Raises
    ------
    UnknownQuestionError
        None of the objects has the question, or it does not read an argument.
    """
    found, given = checked_call(Call(call, (), dict(args)))
    if found.owner not in targets:
        raise UnknownQuestionError(f"this view has no question {call!r}")
    return called(found, targets[found.owner], given)


def called(asked: Question, target: Any, given: Mapping[str, Any]) -> Any:
    """Call a question of an object; a method of the object's own class takes precedence."""
    return getattr(type(target), asked.function.__name__, asked.function)(target, **given)


def checked_call(call: Call) -> tuple[Question, dict[str, Any]]:
    """Return the question of a call and its arguments by name, checked against the registry."""
    found = question_of(call.name)
    given: dict[str, Any] = {} if call.step is None else {"step": call.step}
    places = [a for a in found.arguments if not (found.owner == STEP and a.name == "step")]
    for number, value in enumerate(call.positional):
        if number < len(places) and places[number].several:
            given[places[number].name] = list(call.positional[number:])
            break
        if number >= len(places):
            raise UnknownQuestionError(
                f"{found.name} takes {len(places)} arguments, got {len(call.positional)}",
                _takes(found),
            )
        given[places[number].name] = value
    given.update(call.named)
    by_name = {a.name: a for a in found.arguments}
    for name, value in given.items():
        if name not in by_name:
            near = nearest(name, list(by_name), 1)
            hint = f"did you mean {near[0]!r}?" if near else _takes(found)
            raise UnknownQuestionError(f"{found.name} has no argument {name!r}", hint)
        _check(found, by_name[name], value)
    missing = [a.name for a in found.arguments if a.required and a.name not in given]
    if missing:
        raise UnknownQuestionError(f"{found.name} needs {', '.join(missing)}", _takes(found))
    return found, given


def _takes(found: Question) -> str:
    return f"it reads {', '.join([a.name for a in found.arguments]) or 'no arguments'}"


def _check(found: Question, argument: Argument, value: Any) -> None:
    values = value if argument.several and isinstance(value, list | tuple) else [value]
    for one in values:
        fits = [
            isinstance(one, _PYTHON[name]) and (name == "boolean" or not isinstance(one, bool))
            for name in argument.types
        ]
        if not any(fits):
            kinds = " or ".join([_WORDS[name] for name in argument.types])
            raise UnknownQuestionError(
                f"{found.name}: {argument.name} must be {kinds}, got {_short(one)}", _takes(found)
            )


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _called(session: Any, found: Question, given: Mapping[str, Any]) -> Any:
    named = dict(given)
    several = next((a.name for a in found.arguments if a.several and a.name in named), None)
    if found.is_function:
        return found.function(session, **named)
    owner = session
    if found.owner == STEP:
        owner = session.passes[named.pop("step")]
    else:
        for name in filter(None, found.owner.split(".")):
            owner = getattr(owner, name, None)
    method = getattr(owner, found.function.__name__, None)
    if method is None:
        raise UnknownQuestionError(
            f"a {type(session).__name__.lower()} has no {found.name}", "a compiled session has"
        )
    if found.is_property:
        return method
    if several is None:
        return method(**named)
    before = [a.name for a in found.arguments if a.name in named]
    before = before[: before.index(several)]
    first = [named.pop(name) for name in before]
    return method(*first, *named.pop(several), **named)
