"""The errors that public calls document.

All are `XlaExplorerError`: the message says what is wrong and where, the hint what to do next.
"""

from __future__ import annotations

from xla_explorer.backends.interfaces.compiler import InvalidOptionError
from xla_explorer.backends.registry import UnknownBackendError
from xla_explorer.compiler.pipeline import PassFailedError, PipelineSyntaxError, ValuesDifferError
from xla_explorer.compiler.pipeline.trace import UnknownStepError
from xla_explorer.compiler.transforms.simplifiers.checked_rule import RuleError
from xla_explorer.explorer.questions.decisions import UnknownKindError
from xla_explorer.explorer.sessions.arguments import ArgumentError, RandomArgumentError
from xla_explorer.explorer.sessions.compilation import (
    CannotRunError,
    CompileFailedError,
    NotThereError,
    UnknownStageError,
)
from xla_explorer.explorer.sessions.isolation.failure import (
    IsolatedCrashError,
    IsolatedError,
    IsolatedMemoryError,
    IsolatedTimeoutError,
)
from xla_explorer.explorer.sessions.loading import LoadError, NotAModuleError
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import UnknownOptionError
from xla_explorer.foundation.optional import MissingExtraError
from xla_explorer.frontends.protobuf import ProtoError
from xla_explorer.frontends.stablehlo import StablehloError, StablehloUnsupportedError
from xla_explorer.frontends.xla_dump import DumpError
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.evaluator import EvaluationError
from xla_explorer.hlo.module import UnknownInstructionError
from xla_explorer.hlo.text import HloParseError
from xla_explorer.hlo.verifier import HloVerifyError

__all__ = [
    "ArgumentError",
    "CannotRunError",
    "CompileFailedError",
    "DumpError",
    "EvaluationError",
    "HloBuilderError",
    "HloParseError",
    "HloVerifyError",
    "InvalidOptionError",
    "IsolatedCrashError",
    "IsolatedError",
    "IsolatedMemoryError",
    "IsolatedTimeoutError",
    "LoadError",
    "MissingExtraError",
    "NotAModuleError",
    "NotThereError",
    "PassFailedError",
    "PipelineSyntaxError",
    "ProtoError",
    "RandomArgumentError",
    "RuleError",
    "StablehloError",
    "StablehloUnsupportedError",
    "UnknownBackendError",
    "UnknownInstructionError",
    "UnknownKindError",
    "UnknownOptionError",
    "UnknownStageError",
    "UnknownStepError",
    "ValuesDifferError",
    "XlaExplorerError",
]
