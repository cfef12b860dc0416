"""`verify` and `violations`: every check over a module, each distinct instruction once.

Instructions that agree in opcode, shapes, attributes and signatures of called computations share
one verdict. Verdicts are cached between calls, so verification after every pass costs a dictionary
access an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xla_explorer.foundation.diagnostic import SourceSpan
from xla_explorer.foundation.limits import check_deadline
from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, PARAMETER
from xla_explorer.hlo.verifier.constraints import STANDARD, literal_has_the_shape, reasons_against
from xla_explorer.hlo.verifier.header import header_findings
from xla_explorer.hlo.verifier.options import DEFAULT_OPTIONS, VerifierOptions
from xla_explorer.hlo.verifier.structure import (
    Finding,
    call_findings,
    cycle_findings,
    module_findings,
    pair_finding,
    parameter_findings,
    root_findings,
    schedule_findings,
)
from xla_explorer.hlo.verifier.violation import HloVerifyError, Violation
from xla_explorer.hlo.verifier.whole_module import whole_module_findings

_MIXED_HINT = (
    "float precisions are mixed, as in a TPU's optimised HLO: xe.load, xe.compile and xe.explore "
    "take mixed_precision=True, %%hlo "
    "--mixed-precision, xe.verify VerifierOptions(allow_mixed_precision=True)"
)
# Attributes are interned, so their id is a key as long as the verdict keeps them alive.
_Verdict = tuple[tuple[tuple[str, str], ...], Attributes]
_VERDICTS: dict[VerifierOptions, dict[Any, _Verdict]] = {}
_MOST_VERDICTS = 1 << 15


def verify(module: HloModule, options: VerifierOptions = DEFAULT_OPTIONS) -> None:
    """Raise HloVerifyError with every violation, if there is one.

    Source: xla/service/hlo_verifier.cc for the module, the StableHLO constraints of each opcode for
    instructions.
    """
    found = violations(module, options)
    if found:
        mixed = not options.allow_mixed_precision and not violations(
            module, options._replace(allow_mixed_precision=True)
        )
        raise HloVerifyError(module.name, found, _MIXED_HINT if mixed else None)


def violations(module: HloModule, options: VerifierOptions = DEFAULT_OPTIONS) -> list[Violation]:
    """Return all violations of a module, in order of computations; [] for a well-formed one.

    options: see `VerifierOptions`.
    """
    if not isinstance(module, HloModule):
        raise TypeError(
            f"verify takes a module, not {type(module).__name__}; xe.parse_hlo(text) and "
            "xe.load(path) make one"
        )
    found = [
        *_located(module_findings(module)),
        *[
            (finding, computation)
            for computation in module.computations.values()
            for finding in root_findings(computation)
        ],
        *_located(call_findings(module)),
    ]
    # Signatures consist of roots and calls; without valid ones instructions cannot be checked.
    if not found:
        signatures = _Signatures()
        found = [
            (finding, computation)
            for computation in module.computations.values()
            for finding in _computation_findings(computation, signatures, options)
        ]
        found += _located(_name_findings(module))
        found += _located(header_findings(module, options.layout_sensitive))
        found += _located(whole_module_findings(module, options.layout_sensitive))
    return [_violation(module, finding, computation) for finding, computation in found]


_Located = tuple[Finding, "HloComputation | None"]


def _located(findings: Iterable[Finding]) -> list[_Located]:
    """Return findings with the computations of their instructions."""
    return [
        (finding, finding[2].parent if finding[2] is not None else None) for finding in findings
    ]


def _violation(
    module: HloModule, finding: Finding, computation: HloComputation | None
) -> Violation:
    code, message, i = finding
    return Violation(
        code,
        message,
        computation.name if computation else None,
        i.name if i is not None else None,
        i.id if i is not None else None,
        _span(module, i) if i is not None else None,
    )


def _span(module: HloModule, i: HloInstruction) -> SourceSpan | None:
    text, line = module.source_text, i.line
    if not text or not line:
        return None
    lines = text.split(
        "\n"
    )  # lines as the parser counts them: splitlines() also splits at a form feed
    if line > len(lines):
        return None
    line_text = lines[line - 1]
    column = max(line_text.find(i.name), 0) + 1
    return SourceSpan(module.filename or "<hlo>", line, column, column + len(i.name), line_text)


class _Signatures(dict[HloComputation, Any]):
    """(result shape, parameter shapes by number) of each computation, computed on first use."""

    def __missing__(self, computation: HloComputation) -> Any:
        parameters = [
            (i.payload, i.shape) for i in computation.instructions.values() if i.opcode is PARAMETER
        ]
        parameters.sort(key=lambda pair: pair[0] if isinstance(pair[0], int) else -1)
        signature = self[computation] = (
            computation.root.shape,
            tuple([shape for _, shape in parameters]),
        )
        return signature


def _computation_findings(
    computation: HloComputation, signatures: _Signatures, options: VerifierOptions
) -> list[Finding]:
    found: list[Finding] = []
    verdicts = _VERDICTS.setdefault(options, {})
    in_order = True
    if len(verdicts) > _MOST_VERDICTS:
        verdicts.clear()
    for number, i in computation.instructions.items():
        if not number & 255:
            check_deadline("verifying the module")
        key: Any = (i.opcode, i.shape, id(i.attributes), *[o.shape for o in i.operands])
        if i.called:
            key = (key, *[signatures[c] for c in i.called])
        in_order = _is_after_operands(i, number, computation, found) and in_order
        verdict = verdicts.get(key)
        if verdict is None:
            verdict = verdicts[key] = (reasons_against(i, options), i.attributes)
        if verdict[0]:
            found += [(code, message, i) for code, message in verdict[0]]
        if i.opcode is CONSTANT:
            found += _constant_findings(i)
        if i.opcode.asynchronous and (finding := pair_finding(i)) is not None:
            found.append(finding)
        if i.parent is not computation or i.id != number:
            message = (
                f"is listed in %{computation.name} under id {number} but has another computation "
                "or id"
            )
            found.append(("parent-stale", message, i))
    parameters = [i for i in computation.instructions.values() if i.opcode is PARAMETER]
    found += parameter_findings(computation, parameters)
    cycle = [] if in_order else list(cycle_findings(computation))
    return [*found, *(cycle or schedule_findings(computation))]


def _is_after_operands(
    i: HloInstruction, number: int, computation: HloComputation, found: list[Finding]
) -> bool:
    """Return True if operands and control predecessors have lower ids.

    Wrong edges are added to `found`.
    """
    instructions, in_order = computation.instructions, True
    for operand in i.operands:
        place = operand.id
        in_order = in_order and place < number
        if operand.parent is not computation or place not in instructions:
            message = f"operand %{operand.name} is not in %{computation.name}"
            found.append(("operand-elsewhere", message, i))
        elif i not in operand.users:
            found.append(("users-stale", f"operand %{operand.name} does not list it as a user", i))
    for other in i.control_predecessors:
        in_order = in_order and other.id < number
        if other.parent is not computation or other.id not in instructions:
            message = f"control predecessor %{other.name} is not in %{computation.name}"
            found.append(("control-predecessor-elsewhere", message, i))
    return in_order


def _constant_findings(i: HloInstruction) -> list[Finding]:
    if i.payload is not None and i.payload.shape is i.shape:
        return []
    reason = literal_has_the_shape(i)
    return [] if reason is None else [(f"constant-C{len(STANDARD) + 1}", reason.message, i)]


def _name_findings(module: HloModule) -> list[Finding]:
    names = [
        i.name
        for computation in module.computations.values()
        for i in computation.instructions.values()
    ]
    if len(set(names)) == len(names):
        return []
    found: list[Finding] = []
    first: dict[str, HloInstruction] = {}
    for i in module.instructions():
        other = first.setdefault(i.name, i)
        if other is not i:
            found.append(
                (
                    "name-repeated",
                    f"%{other.parent.name} has an instruction of that name already",
                    i,
                )
            )
    return found
