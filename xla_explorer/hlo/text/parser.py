"""HLO text to module: the header, then one computation after the other.

`computation_body.py` reads instructions, one regular expression per line, and makes no error
messages. `careful_reader.py` reads the other lines, and finds the exact place of errors. Source:
xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.diagnostic import SourceSpan
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import PARAMETER
from xla_explorer.hlo.text.attributes.attribute_list import FindComputation, read_attributes
from xla_explorer.hlo.text.attributes.values import canonical_value
from xla_explorer.hlo.text.careful_reader import CarefulReader
from xla_explorer.hlo.text.computation_body import BodyReader, make_names_unique
from xla_explorer.hlo.text.computation_checks import check_parameters
from xla_explorer.hlo.text.computation_header import ComputationHeader, read_computation_header
from xla_explorer.hlo.text.errors import HloParseError, TextError
from xla_explorer.hlo.text.finished_module import (
    apply_header,
    make_computations_unique,
    schedule_as_written,
)
from xla_explorer.hlo.text.lexical import NAME, skip_blank
from xla_explorer.hlo.text.module_header import read_header
from xla_explorer.hlo.text.shape_text import same_dimensions
from xla_explorer.hlo.text.source_text import decode_source
from xla_explorer.hlo.text.tokens import Tokens


class _Parser:
    """One parse. `body` counts the lines that each path read."""

    def __init__(self, text: str, filename: str | None, *, careful: bool = False) -> None:
        self.text = text
        self.filename = filename
        self.module = HloModule("")
        self.module.filename = filename
        self.module.source_text = text
        self.find = FindComputation(self.module.computations, self._inline)
        self.reader = CarefulReader(text, self.find)
        self.body = BodyReader(text, self.module, self.reader, careful=careful)

    # -- errors ------------------------------------------------------------------------------------
    def error(self, problem: TextError) -> HloParseError:
        """Return the public error for a problem at an offset of this text."""
        span = SourceSpan.from_offset(self.text, problem.at, problem.length, self.filename)
        return HloParseError(
            problem.message, span, problem.hint or "compare with the HLO text that XLA prints"
        )

    # -- computations ------------------------------------------------------------------------------
    def _inline(self, at: int) -> HloComputation:
        """Read a computation inside an attribute, `to_apply={...}`; at: its opening brace."""
        computation = HloComputation("_", self.module)
        single, self.reader.single = self.reader.single, False
        self.body.read(at + 1, computation, self.text.count("\n", 0, at) + 1)
        self.reader.single = single
        name, number = "_", 0
        while name in self.module.computations:
            number += 1
            name = f"_.{number}"
        computation.name = name
        self.module.computations[name] = computation
        return computation

    def computation(self, header: ComputationHeader, line: int) -> tuple[HloComputation, int, int]:
        """Read one computation and return it, the offset after it, and the line there."""
        if header.name in self.module.computations:
            raise TextError(
                f"computation already exists: {header.name}",
                header.name_at,
                "rename one of the two",
                len(header.name),
            )
        computation = HloComputation(header.name, self.module)
        at, line = self.body.read(
            header.end, computation, line + self.text.count("\n", header.start, header.end)
        )
        if header.result is not None and not same_dimensions(header.result, computation.root.shape):
            raise TextError(
                f"Shape of computation {header.name}, {header.result}, is not compatible with "
                "that of its root "
                "instruction "
                f"{computation.root.name}, {computation.root.shape}",
                header.result_at,
                f"write -> {computation.root.shape.text_without_layout}, or correct the root in "
                f"line {computation.root.line}",
                len(header.result.text_without_layout),
            )
        self.module.computations[header.name] = computation
        if self.text.startswith(",", skip_blank(self.text, at)):
            end = self._read_thread(computation, at)
            line += self.text.count("\n", at, end)
            at = end
        return computation, at, line

    def _read_thread(self, computation: HloComputation, at: int) -> int:
        """Read `, execution_thread="t"` after the body and return the offset after it."""
        tokens = Tokens(self.text, at)
        items = read_attributes(tokens, "")
        for item in items:
            if item.name != "execution_thread" or len(items) > 1:
                message = (
                    f'unexpected attribute "{item.name}" of a computation'
                    if len(items) == 1
                    else "a computation has one attribute"
                )
                raise TextError(
                    message,
                    items[-1].name_at,
                    "a computation has execution_thread= or nothing",
                    len(items[-1].name),
                )
            computation.execution_thread = canonical_value("", item.name, item.value)
        return tokens.previous_end

    def parse(self) -> HloModule:
        """Read the whole text."""
        try:
            return self._parse()
        except TextError as problem:
            raise self.error(problem) from None
        except RecursionError:
            raise self.error(
                TextError("the text nests too deep", 0, "flatten nested brackets")
            ) from None

    def _parse(self) -> HloModule:
        text, module = self.text, self.module
        header = read_header(text, 0)
        at = header.end
        if header.name is None and not header.frames and at < len(text):
            tokens = Tokens(text, at)
            if tokens.kind != "ENTRY" and tokens.look_ahead() != "{":
                return self._single_instruction(at)
        line = text.count("\n", 0, at) + 1
        last: HloComputation | None = None
        while at < len(text):
            start = read_computation_header(text, at)
            last, end, line = self.computation(start, line)
            if start.is_entry:
                if module.entry is not None:
                    raise TextError(
                        "expects only one ENTRY",
                        start.start,
                        f"remove ENTRY here, or from {module.entry.name}",
                        5,
                    )
                module.entry = last
            at = skip_blank(text, end)
            line += text.count("\n", end, at)
        if last is None:
            raise TextError(
                "a module without computations",
                at,
                "add a computation: ENTRY main { ROOT p = f32[] parameter(0) }",
            )
        if module.entry is None:
            module.entry = last
        make_computations_unique(module)
        module.name = header.name or f"module_{module.entry.name}"
        apply_header(module, header)
        return module

    def _single_instruction(self, at: int) -> HloModule:
        """Read a text of one instruction; undefined operands become parameters of their shapes."""
        module, text = self.module, self.text
        self.reader.single = True
        computation = HloComputation("_", module)
        names: dict[str, HloInstruction] = {}
        module.computations["_"] = computation  # reserved before inlined computations need names
        pieces = self.reader.read(at, names, computation)
        del module.computations["_"]
        if skip_blank(text, pieces.end) < len(text):
            found = NAME.match(text, skip_blank(text, pieces.end))
            raise TextError(
                "stray text after a single instruction",
                skip_blank(text, pieces.end),
                "put several instructions into a computation: ENTRY main { ... }",
                len(found.group()) if found else 1,
            )
        i = self.reader.create(
            pieces.name,
            pieces.spec,
            pieces.shape,
            pieces.operands,
            pieces.decoded,
            pieces.payload,
            names,
            computation,
        )
        i.metadata, i.line = pieces.decoded.metadata, text.count("\n", 0, pieces.name_at) + 1
        check_parameters(
            text, [p for p in computation.instructions.values() if p.opcode is PARAMETER]
        )
        make_names_unique(module, names)
        computation.root = i
        module.name = "_"
        parameters = ", ".join(
            [p.shape.base.text for p in computation.parameters()]
        )  # XLA gives them default layouts
        module.attributes["entry_computation_layout"] = f"{{({parameters})->{i.shape.base.text}}}"
        module.computations["_"] = module.entry = computation
        make_computations_unique(module)
        schedule_as_written(module)
        self.body.slow_lines += 1
        return module


@explains_arguments
@default_floating_point()
def parse_hlo(text: str | bytes, filename: str | None = None) -> HloModule:
    """Read HLO text.

    The verifier compares given result shapes with inference. Names are made unique as XLA does; the
    first instruction with a name keeps it.

    Parameters
    ----------
    text
        A module as XLA prints or accepts it, also without a header, or a single instruction.
    filename
        The name that messages show.

    Returns
    -------
    HloModule
        The module.

    Raises
    ------
    HloParseError
        The text cannot be read. A SyntaxError with the place, the problem and the next step.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> module = xe.parse_hlo("ENTRY main { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }")
    >>> module.entry.root.shape.text_without_layout
    'f32[4]'
    """
    with collector_paused():
        return _Parser(decode_source(text, filename), filename).parse()
