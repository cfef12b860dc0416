"""Pipelines as immutable data, and their text form.

`algsimp,cse,dce` is a sequence; `simplification{algsimp,cse,dce}*` a named pipeline repeated until
nothing changes; `fusion{max_operands=64}` a pass with options. `default,before(fusion)=my-pass`,
`default,after(cse)=inner{a,b}` and `default,without(cse)` edit the steps on their left; an edited
pipeline prints as its result.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from xla_explorer.compiler.pipeline.pass_interface import HloPass, make_pass
from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.foundation.visible_text import cleaned

FIXED_POINT_LIMIT = 25


class PipelineSyntaxError(XlaExplorerError, ValueError):
    """A pipeline string that cannot be read; the message holds the place."""


@dataclasses.dataclass(frozen=True)
class PassPipeline:
    """Passes and pipelines in order, as immutable data with a text form.

    Parameters
    ----------
    name
        The pipeline's name, used for its spans in the journal.
    steps
        Passes and pipelines, in order.
    fixed_point
        Repeat until no step changes anything.
    limit
        The largest number of iterations of a fixed point.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = "ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }"
    >>> session = xe.compile(text, "interpreter", "algsimp,dce")
    >>> [step.name for step in session.passes.pipeline.steps]
    ['algsimp', 'dce']
    """

    name: str
    steps: tuple[HloPass | PassPipeline, ...]
    fixed_point: bool = False
    limit: int = FIXED_POINT_LIMIT

    def passes(self) -> Iterator[HloPass]:
        """Yield every pass in order, nested ones included; a repeated pass once."""
        for step in self.steps:
            if isinstance(step, PassPipeline):
                yield from step.passes()
            else:
                yield step

    def then(self, *steps: HloPass | PassPipeline) -> PassPipeline:
        """Return the pipeline with further steps at its end."""
        return dataclasses.replace(self, steps=self.steps + steps)

    def without(self, *names: str) -> PassPipeline:
        """Return the pipeline without the passes (or nested pipelines) of these names.

        LookupError for unknown names.
        """
        for name in names:
            self._require(name)
        return self._edited(lambda step: () if step.name in names else (step,))

    def before(self, name: str, *steps: str | HloPass | PassPipeline) -> PassPipeline:
        """Return the pipeline with steps before every pass of a name, nested passes included.

        If no pass has the name, the steps stand before every pipeline of this name. steps: passes,
        pipelines, or texts as `parse_pipeline` reads them. LookupError with near names for an
        unknown name.
        """
        made, is_there = _steps(steps), self._places(name)
        return self._edited(lambda step: (*made, step) if is_there(step) else (step,))

    def after(self, name: str, *steps: str | HloPass | PassPipeline) -> PassPipeline:
        """Return the pipeline with steps after every pass of a name; see `before`."""
        made, is_there = _steps(steps), self._places(name)
        return self._edited(lambda step: (step, *made) if is_there(step) else (step,))

    def move(
        self, name: str, *, before: str | None = None, after: str | None = None, occurrence: int = 0
    ) -> PassPipeline:
        """Return the pipeline with one step moved before or after every step of another name.

        occurrence: the index of the step among those named `name`.
        """
        anchor = self._anchor(before, after)
        found = [step for step in self.walk() if step.name == name]
        if not -len(found) <= occurrence < len(found):
            self._require(name)
            raise LookupError(
                f"{self.name} has {len(found)} steps named {name!r}: occurrence must be below "
                f"{len(found)}, got {occurrence}"
            )
        if anchor == name:
            raise ValueError(f"{name!r} cannot be moved next to itself")
        number = range(len(found))[occurrence]
        seen = iter(range(len(found)))
        rest = self._edited(
            lambda step: () if step.name == name and next(seen) == number else (step,)
        )
        return (
            rest.before(anchor, found[number])
            if before is not None
            else rest.after(anchor, found[number])
        )

    def swap(self, first: str, second: str) -> PassPipeline:
        """Return the pipeline with every step of one name in place of the other's, and vice versa.

        Each step has the options of its name's first occurrence. LookupError for unknown names.
        """
        is_first, is_second = self._places(first), self._places(second)
        one, other = [next(filter(there, self.walk())) for there in (is_first, is_second)]
        return self._edited(
            lambda step: (other if is_first(step) else one if is_second(step) else step,)
        )

    def replace(self, name: str, *steps: str | HloPass | PassPipeline) -> PassPipeline:
        """Return the pipeline with `steps` in place of every step of a name.

        An example is the same pass with other options. A name of both a pass and a pipeline means
        the pass.
        """
        is_replaced, made = self._places(name), _steps(steps)
        return self._edited(lambda step: made if is_replaced(step) else (step,))

    def walk(self) -> Iterator[HloPass | PassPipeline]:
        """Yield every step; a nested pipeline comes before its own steps."""
        for step in self.steps:
            yield step
            if isinstance(step, PassPipeline):
                yield from step.walk()

    def _anchor(self, before: str | None, after: str | None) -> str:
        if (before is None) == (after is None):
            raise ValueError("say where: exactly one of before= and after=")
        anchor = before if before is not None else after
        assert anchor is not None
        self._require(anchor)
        return anchor

    def _places(self, name: str) -> Callable[[HloPass | PassPipeline], bool]:
        """Return a predicate for the steps with a name: passes if any has it, else pipelines."""
        self._require(name)
        is_pass = any(step.name == name for step in self.passes())
        return lambda step: step.name == name and not (is_pass and isinstance(step, PassPipeline))

    def _require(self, name: str) -> None:
        names = list(dict.fromkeys([step.name for step in self.walk()]))
        if name not in names:
            near = nearest(name, names, 3)
            known = f"near: {', '.join(near)}" if near else f"it has: {', '.join(names)}"
            raise LookupError(f"{self.name} has no step {name!r}; {known}")

    def _edited(
        self, edit: Callable[[HloPass | PassPipeline], Iterable[HloPass | PassPipeline]]
    ) -> PassPipeline:
        """Replace every step by `edit(step)`; nested pipelines that stay are edited inside."""
        steps: list[HloPass | PassPipeline] = []
        for step in self.steps:
            steps += [
                s._edited(edit) if s is step and isinstance(s, PassPipeline) else s
                for s in edit(step)
            ]
        return dataclasses.replace(self, steps=tuple(steps))

    @cleaned
    def __str__(self) -> str:
        inner = ",".join(
            [
                str(step) if isinstance(step, PassPipeline) else pass_text(step)
                for step in self.steps
            ]
        )
        return f"{self.name}{{{inner}}}" + ("*" if self.fixed_point else "")


def _steps(given: Iterable[str | HloPass | PassPipeline]) -> tuple[HloPass | PassPipeline, ...]:
    """Return steps from steps and texts (`cse,dce`, `inner{cse,dce}*`)."""
    found: list[HloPass | PassPipeline] = []
    for step in given:
        found += _Reader(step).whole() if isinstance(step, str) else (step,)
    return tuple(found)


def pass_options(hlo_pass: HloPass) -> dict[str, Any]:
    """Return the options of a pass that differ from their defaults."""
    found = {}
    for field in dataclasses.fields(hlo_pass):  # type: ignore[arg-type]  # passes are dataclasses by contract
        value = getattr(hlo_pass, field.name)
        default = (
            field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default
        )
        if value != default:
            found[field.name] = value
    return found


def pass_text(hlo_pass: HloPass) -> str:
    """Return `name` or `name{option=value,...}`, as `parse_pipeline` reads it."""
    options = pass_options(hlo_pass)
    if not options:
        return hlo_pass.name
    return f"{hlo_pass.name}{{{','.join([f'{name}={_write(value)}' for name, value in options.items()])}}}"


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        value
        if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w\-.]*", value)
        else repr(value)
    )


def _read(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


_EDIT = re.compile(r"\s*(before|after|without)\s*\(\s*([A-Za-z_][\w\-]*)\s*\)\s*")
_NAME = re.compile(r"\s*([A-Za-z_][\w\-]*)\s*")
_OPTION = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\"[^\"]*\"|'[^']*'|\([^()]*\)|[^,{}()\s]+)\s*")


class _Reader:
    def __init__(self, text: str, words: Mapping[str, PassPipeline] | None = None) -> None:
        self.text, self.at, self.words = text, 0, words or {}

    def fail(self, message: str, at: int | None = None) -> PipelineSyntaxError:
        span = SourceSpan.from_offset(
            self.text, self.at if at is None else at, filename="<pipeline>"
        )
        return PipelineSyntaxError(
            f"{message}\n{span.caret()}",
            'a pipeline reads "algsimp,simplification{cse,dce}*,fusion{max_operands=64}"',
        )

    def eat(self, sign: str) -> bool:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def whole(self) -> tuple[HloPass | PassPipeline, ...]:
        found = self.steps()
        if self.text[self.at :].strip():
            raise self.fail("stray text after the pipeline")
        return found

    def steps(self) -> tuple[HloPass | PassPipeline, ...]:
        found: tuple[HloPass | PassPipeline, ...] = ()
        while True:
            edit = _EDIT.match(self.text, self.at)
            found = self.edited(found, edit) if edit is not None else (*found, self.step())
            if not self.eat(","):
                return found

    def edited(
        self, found: tuple[HloPass | PassPipeline, ...], edit: re.Match[str]
    ) -> tuple[HloPass | PassPipeline, ...]:
        """Return the steps on the left of an edit, edited.

        Edits are `before(name)=step`, `after(name)=step` and `without(name)`.
        """
        verb, name = edit.groups()
        self.at = edit.end()
        whole = PassPipeline("the pipeline in front of it", found)
        try:
            if verb == "without":
                return whole.without(name).steps
            if not self.eat("="):
                raise self.fail(f"expected = and what to put {verb} {name}")
            step = self.step()
            return (whole.before(name, step) if verb == "before" else whole.after(name, step)).steps
        except LookupError as problem:
            raise self.fail(str(problem.args[0]), edit.start(2)) from None

    def step(self) -> HloPass | PassPipeline:
        named = _NAME.match(self.text, self.at)
        if named is None:
            raise self.fail("expected the name of a pass")
        start, name = named.start(1), named.group(1)
        self.at = named.end()
        steps: tuple[HloPass | PassPipeline, ...] | None = None
        options: dict[str, Any] = {}
        if self.eat("{"):
            if _OPTION.match(self.text, self.at):
                while option := _OPTION.match(self.text, self.at):
                    options[option.group(1)] = _read(option.group(2))
                    self.at = option.end()
                    if not self.eat(","):
                        break
            elif not self.eat("}"):
                steps = self.steps()
            else:
                self.at -= 1
            if not self.eat("}"):
                raise self.fail("expected , or }")
        repeated = self.eat("*")
        if steps is not None:
            return PassPipeline(name, steps, repeated)
        if name in self.words and not options:
            word = self.words[name]
            return dataclasses.replace(word, fixed_point=True) if repeated else word
        try:
            made = make_pass(name, **options)
        except (LookupError, ValueError, TypeError) as problem:
            raise self.fail(str(problem.args[0] if problem.args else problem), start) from None
        return PassPipeline(name, (made,), True) if repeated else made


def parse_pipeline(
    text: str, name: str = "pipeline", words: Mapping[str, PassPipeline] | None = None
) -> PassPipeline:
    """Read a pipeline string. PipelineSyntaxError shows the place and near names.

    words: names that stand for whole pipelines, such as `default` in "default,my-pass".
    """
    if not text.strip():
        return PassPipeline(name, ())
    steps = _Reader(text, words).whole()
    if len(steps) == 1 and isinstance(steps[0], PassPipeline):
        return steps[0]
    return PassPipeline(name, steps)
