"""Text of records with structure: loops and branches with indented bodies."""

from __future__ import annotations

from collections.abc import Iterable

from xla_explorer.compiler.codegen.ir.llvm_text import Lines, record_text
from xla_explorer.compiler.codegen.ir.records import If, Loop, Record


def structured_lines(records: Iterable[Record], depth: int = 0) -> Lines:
    """Return the lines of records, and the HLO instruction of each.

    Heads and ends of loops and branches have none.
    """
    found: Lines = []
    margin = "  " * depth
    for record in records:
        if isinstance(record, Loop):
            found += _loop(record, depth)
        elif isinstance(record, If):
            found.append((f"{margin}if {record.condition} {{", None))
            found += structured_lines(record.body, depth + 1)
            if record.otherwise:
                found.append((f"{margin}}} else {{", None))
                found += structured_lines(record.otherwise, depth + 1)
            results = [f"{value} = {x} else {y}" for value, x, y in record.results]
            found.append((f"{margin}}}{'  ; ' if results else ''}{', '.join(results)}", None))
        else:
            found.append((f"{margin}{record_text(record)}", record.origin))
    return found


def _loop(record: Loop, depth: int) -> Lines:
    margin = "  " * depth
    carried = [f"{value} = {first}" for value, first, _ in record.carried]
    following = [f"{value} = {after}" for value, _, after in record.carried]
    step = f" step {record.step}" if record.step != 1 else ""
    head = f"{margin}for {record.index} = {record.start} to {record.end}{step}"
    return [
        (f"{head}{' carries ' if carried else ''}{', '.join(carried)} {{", None),
        *structured_lines(record.body, depth + 1),
        *([(f"{margin}  next {', '.join(following)}", None)] if following else []),
        (f"{margin}}}", None),
    ]
