"""Results of a compile as messages between processes.

Modules are sent as snapshots, passes as data, errors with their places. Both sides import this
module, which registers how each type is sent.
"""

from __future__ import annotations

from typing import Any, cast

from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.compiler.codegen.ir.builder import Builder
from xla_explorer.compiler.codegen.ir.records import Body
from xla_explorer.compiler.codegen.ir.types import Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.compiler.pipeline import PassControl, PassTrace
from xla_explorer.compiler.pipeline.trace import PassStep
from xla_explorer.foundation.journal import Event, Journal, Span
from xla_explorer.foundation.plain_data import is_plain_data, register_plain_data
from xla_explorer.frontends.stablehlo.errors import StablehloError, StablehloUnsupportedError
from xla_explorer.hlo.attributes.interning import Attributes, attributes_of
from xla_explorer.hlo.evaluator import TOKEN_VALUE, Evaluator, Host, Token
from xla_explorer.hlo.layout import Layout, layout
from xla_explorer.hlo.literal import Literal
from xla_explorer.hlo.metadata import StackFrameTables
from xla_explorer.hlo.module import HloModule, module_of_parts
from xla_explorer.hlo.opcodes import opcode
from xla_explorer.hlo.opcodes.spec import OpcodeSpec
from xla_explorer.hlo.primitive_type import PrimitiveType, primitive_type
from xla_explorer.hlo.shape import Shape, parse_shape
from xla_explorer.hlo.text.errors import HloParseError
from xla_explorer.hlo.verifier.violation import Violation

_STEP = (
    "seconds",
    "changed",
    "before",
    "after",
    "span",
    "instructions_before",
    "instructions_after",
    "rewrites",
    "actions",
    "error",
)
_SPAN = ("started", "seconds", "changed", "error")
_VIOLATION = ("code", "message", "computation", "instruction", "instruction_id", "span")
_EVENT = (
    "sequence",
    "span",
    "kind",
    "by",
    "subjects",
    "names",
    "reason",
    "facts",
    "verdict",
    "checklist",
    "forceable",
)


def portable(problem: BaseException) -> BaseException | None:
    """Return the exception if it can be sent, else None."""
    return problem if is_plain_data(problem) else None


def with_state(arguments: Any) -> list[Any]:
    """Return the hosts and evaluators among arguments, in order."""
    if isinstance(arguments, Host | Evaluator):
        return [arguments]
    if isinstance(arguments, dict):
        arguments = tuple(arguments.values())
    if isinstance(arguments, list | tuple):
        return [found for one in arguments for found in with_state(one)]
    return []


def _literal(shape: Shape, array: Any, text: str | None, parts: tuple[Literal, ...]) -> Literal:
    if array is not None:
        array.setflags(write=False)
    return Literal(shape, array, text, parts)


def _values_of_literal(literal: Literal) -> tuple[Any, ...]:
    # A literal that was read and never decoded has a text shorter than its array. The text also
    # shows omitted values.
    text = literal._text if literal._array is None or literal.is_elided else None
    return literal.shape, literal._array if text is None else None, text, literal.parts


def _fields(value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name in names])


def _with_fields(made: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    for name, value in zip(names, values, strict=True):
        setattr(made, name, value)
    return made


def _journal(level: str, spans: list[Span], events: list[Event]) -> Journal:
    made = Journal(level)
    made.spans, made.events = spans, events
    return made


def _value(type_: Type, name: str) -> Value[Any]:
    """Return a value of a finished function, in which nothing more is emitted."""
    return Value(cast("Builder", None), type_, name)


def _trace(
    begun: tuple[Any, ...], steps: list[PassStep], error: BaseException | None, seconds: float
) -> PassTrace:
    made = PassTrace(*begun)
    made.steps, made.error, made.seconds = steps, error, seconds
    return made


def _values_of_trace(trace: PassTrace) -> tuple[Any, ...]:
    error = (
        None
        if trace.error is None
        else portable(trace.error) or RuntimeError(f"{type(trace.error).__name__}: {trace.error}")
    )
    begun = (
        trace.module,
        trace.pipeline,
        trace.journal,
        trace.initial,
        trace.control,
        trace.target,
    )
    return begun, trace.steps, error, trace.seconds


register_plain_data(Type, lambda t: (t.scalar, t.lanes, t.space, t.format), Type)
register_plain_data(Value, lambda v: (v.type, v.name), _value)
register_plain_data(Body, lambda body: (body.records,), Body)
register_plain_data(PrimitiveType, lambda v: (v.name,), primitive_type)
register_plain_data(Shape, lambda v: (v.text,), parse_shape)
register_plain_data(Layout, lambda v: (v.minor_to_major, v.properties), layout)
register_plain_data(OpcodeSpec, lambda v: (v.name,), opcode)
register_plain_data(Attributes, lambda v: (dict(v),), attributes_of)
register_plain_data(Literal, _values_of_literal, _literal)
register_plain_data(StackFrameTables, lambda v: (v.text,), StackFrameTables)
# JAX's pytree of the results stays here: the child returns leaves.
register_plain_data(HloModule, lambda m: m.__reduce__()[1][:-1], module_of_parts)

register_plain_data(Token, lambda _: (), lambda: TOKEN_VALUE)
register_plain_data(
    Host, lambda h: (list(h.infeed), h.outfeed, h.sent, h.on_send, h.on_receive), Host.of_state
)
register_plain_data(Evaluator, Evaluator.state, Evaluator.of_state)

register_plain_data(HloParseError, lambda e: (e.message, e.span, e.hint), HloParseError)
register_plain_data(StablehloError, lambda e: (e.message, e.span, e.hint), StablehloError)
register_plain_data(
    StablehloUnsupportedError, lambda e: (e.reason, e.span, e.hint), StablehloUnsupportedError
)

register_plain_data(Violation, lambda v: _fields(v, _VIOLATION), lambda *values: Violation(*values))
register_plain_data(Event, lambda e: _fields(e, _EVENT), lambda *values: Event(*values))
register_plain_data(
    Span,
    lambda s: (s.id, s.kind, s.name, s.parent, _fields(s, _SPAN)),
    lambda number, kind, name, parent, rest: _with_fields(
        Span(number, kind, name, parent), _SPAN, rest
    ),
)
register_plain_data(Journal, lambda j: (j.level.name.lower(), j.spans, j.events), _journal)
register_plain_data(
    PassStep,
    lambda s: (s.index, s.path, s.hlo_pass, s.options, _fields(s, _STEP)),
    lambda index, path, hlo_pass, options, rest: _with_fields(
        PassStep(index, path, hlo_pass, options), _STEP, rest
    ),
)
register_plain_data(
    PassControl,
    lambda c: (c.force, c.forbid, c.skipped_rules, c.rewrite_limit, c.check_values),
    lambda *values: PassControl(*values),
)
register_plain_data(PassTrace, _values_of_trace, _trace)
register_plain_data(
    CompileOptions,
    lambda o: (o.passes, o.journal, o.threads, o.verify, o.cache, o.control, o.backend_options),
    lambda *values: CompileOptions(*values),
)
