"""The registry of questions: the methods of a session by name, with typed arguments.

`question` marks a method as a question. `questions` lists them, `answer` is the one way to an
answer for the widget, pages, the command line, magics and agents.

Start reading at `question.py`.
"""

from xla_explorer.explorer.asking.answering import answer, checked_call, value_of
from xla_explorer.explorer.asking.budget import Budget
from xla_explorer.explorer.asking.call_text import Call, CallError, parse_call
from xla_explorer.explorer.asking.links import page_link
from xla_explorer.explorer.asking.question import (
    Argument,
    Cost,
    Question,
    question,
    questions,
)
from xla_explorer.explorer.asking.reply import Reply
from xla_explorer.explorer.display.plain_data import SCHEMA

__all__ = [
    "SCHEMA",
    "Argument",
    "Budget",
    "Call",
    "CallError",
    "Cost",
    "Question",
    "Reply",
    "answer",
    "checked_call",
    "page_link",
    "parse_call",
    "question",
    "questions",
    "value_of",
]
