"""`xla-explorer ask`: compile a program and print the answer to one question about it.

A question is a method with the decorator `question`; a new one needs no change here.
"""

from __future__ import annotations

import sys
from argparse import Namespace

from xla_explorer.cli.output import on_terminal, print_json, print_table
from xla_explorer.explorer.asking import Budget, answer, parse_call, questions
from xla_explorer.explorer.asking.answering import checked_call
from xla_explorer.explorer.compiling import compile
from xla_explorer.explorer.sessions.loading import EntryChoice, load_module, module_of_bytes

_ALL_LINES = 1_000_000


def ask(given: Namespace) -> int:
    """Print the answer to a question, or the list of questions."""
    if given.call is None:
        rows = [(q.name, _arguments(q.schema()), q.summary) for q in questions().values()]
        print_table(["question", "arguments", "answer"], rows, as_json=given.json)
        return 0
    checked_call(parse_call(given.call))  # reject a wrong call before the compile
    entry = EntryChoice(given.function, given.shapes)
    module = (
        module_of_bytes(sys.stdin.buffer.read(), "<stdin>", entry=entry)
        if given.file == "-"
        else load_module(given.file, entry)
    )
    session = compile(module, given.backend, given.passes, keep_errors=True)
    budget = Budget(rows=given.rows, tokens=given.tokens)
    reply = answer(session, given.call, budget=budget, page=given.page)
    if given.json:
        print_json(reply.to_json())
    else:
        fitted = on_terminal() and reply.rows is not None
        print(reply.to_terminal(most=_ALL_LINES) if fitted else reply)
    return 0


def _arguments(schema: dict[str, dict[str, object]]) -> str:
    return ", ".join(schema["properties"])
