"""An interactive explorer of an XLA-like compiler.

`import xla_explorer as xe` loads nothing heavy: every public name is fetched from its room when it
is first used.

    session = xe.compile(text)   # parse, verify, optimise and compile HLO; record every step
    session(x, y)                # run it
    session.decisions("fusion")  # read why instructions were fused, or not
    xe.explore(session)          # open the widget
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> (module, attribute)
_PUBLIC: dict[str, tuple[str, str]] = {
    "aot": ("xla_explorer.explorer.aot", "aot"),
    "backend_names": ("xla_explorer.backends.registry", "backend_names"),
    "compare": ("xla_explorer.explorer.comparisons.compare", "compare"),
    "compile": ("xla_explorer.explorer.compiling", "compile"),
    "doctor": ("xla_explorer.explorer.doctor", "doctor"),
    "evaluate": ("xla_explorer.explorer.sessions.given_modules", "evaluate"),
    "example": ("xla_explorer.explorer.sessions.examples", "example"),
    "explore": ("xla_explorer.explorer.exploring", "explore"),
    "from_jax": ("xla_explorer.frontends.jax_program", "from_jax"),
    "graph": ("xla_explorer.explorer.exploring", "graph"),
    "jit": ("xla_explorer.explorer.jax_functions", "jit"),
    "kernel_reproducer": ("xla_explorer.explorer.sameness.reproducer", "kernel_reproducer"),
    "load": ("xla_explorer.explorer.loading", "load"),
    "minimize": ("xla_explorer.explorer.questions.minimization", "minimize"),
    "optimize": ("xla_explorer.explorer.trace", "optimize"),
    "options": ("xla_explorer.explorer.sessions.options", "options"),
    "parse_hlo": ("xla_explorer.hlo.text", "parse_hlo"),
    "parse_stablehlo": ("xla_explorer.frontends.stablehlo", "parse_stablehlo"),
    "passes": ("xla_explorer.explorer.catalogue", "passes"),
    "prove": ("xla_explorer.explorer.rules.proofs", "prove"),
    "random_arguments": ("xla_explorer.explorer.sessions.arguments", "random_arguments"),
    "read_timeline": ("xla_explorer.explorer.measures.trace_events", "read_timeline"),
    "register_pass": ("xla_explorer.compiler.pipeline", "register_pass"),
    "rule": ("xla_explorer.compiler.transforms.simplifiers.checked_rule", "rule"),
    "same": ("xla_explorer.explorer.sameness.same", "same"),
    "search_fusion": ("xla_explorer.explorer.searching", "search_fusion"),
    "sweep": ("xla_explorer.explorer.comparisons.sweep", "sweep"),
    "tune": ("xla_explorer.explorer.tuning", "tune"),
    "verify": ("xla_explorer.explorer.sessions.given_modules", "verify"),
    "warm_up": ("xla_explorer.explorer.warming", "warm_up"),
    "HloBuilder": ("xla_explorer.hlo.builder", "HloBuilder"),
    "HloModule": ("xla_explorer.hlo.module", "HloModule"),
    "Isolation": ("xla_explorer.explorer.sessions.isolation", "Isolation"),
    "PassPipeline": ("xla_explorer.compiler.pipeline", "PassPipeline"),
    "Reason": ("xla_explorer.foundation.reason", "Reason"),
    "Session": ("xla_explorer.explorer.session", "Session"),
    "XlaExplorerError": ("xla_explorer.foundation.diagnostic", "XlaExplorerError"),
}

# The names of `xla_explorer.hlo.primitive_type.PRIMITIVE_TYPES`, listed so that completion costs no
# import; a test compares.
_PRIMITIVE_TYPES = (
    "pred",
    "token",
    "opaque",
    "s1",
    "u1",
    "s2",
    "u2",
    "s4",
    "u4",
    "s8",
    "u8",
    "s16",
    "u16",
    "s32",
    "u32",
    "s64",
    "u64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "c64",
    "c128",
    "f4e2m1fn",
    "f6e2m3fn",
    "f6e3m2fn",
    "f8e5m2",
    "f8e4m3",
    "f8e4m3fn",
    "f8e4m3b11fnuz",
    "f8e5m2fnuz",
    "f8e4m3fnuz",
    "f8e3m4",
    "f8e8m0fnu",
)

# name -> module; `xe.hlo` is a decorator too
_MODULES = {
    "backends": "xla_explorer.backends",
    "charts": "xla_explorer.explorer.measures.charts",
    "course": "xla_explorer.course",
    "errors": "xla_explorer.errors",
    "hlo": "xla_explorer.hlo",
    "plugin": "xla_explorer.plugin",
    "sharding": "xla_explorer.explorer.sharding",
    "xla": "xla_explorer.explorer.real_xla",
}

__all__ = ["__version__", "load_ipython_extension", *_MODULES, *_PUBLIC]  # the table is the list


if not TYPE_CHECKING:  # a type checker sees the names below and no others

    def __getattr__(name: str) -> Any:
        if name in _PUBLIC:
            module, attribute = _PUBLIC[name]
            # Hundreds of modules may follow, whose objects all stay: the collector would walk them
            # for nothing.
            with importlib.import_module("xla_explorer.foundation.collector").collector_paused():
                value = getattr(importlib.import_module(module), attribute)
        elif name in _MODULES:
            # An import of a room sets this attribute anyway.
            value = importlib.import_module(_MODULES[name])
        elif name in _PRIMITIVE_TYPES:
            value = importlib.import_module("xla_explorer.hlo.primitive_type").PRIMITIVE_TYPES[name]
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    # The names of the table and of every Python module, without imports of this file and loaded
    # rooms.
    own = {name for name in globals() if name.startswith("__") and name != "__future__"}
    return sorted({*own, *__all__, *_PRIMITIVE_TYPES})


def load_ipython_extension(ipython: Any) -> None:
    """Register the magics; IPython calls it for `%load_ext xla_explorer`."""
    # By name: the rooms below must not see the notebook room, and a plain import must not load it.
    importlib.import_module("xla_explorer.notebook.extension").load(ipython)


if TYPE_CHECKING:
    from xla_explorer import backends as backends
    from xla_explorer import course as course
    from xla_explorer import errors as errors
    from xla_explorer.backends.registry import backend_names as backend_names
    from xla_explorer.compiler.pipeline import PassPipeline as PassPipeline
    from xla_explorer.compiler.pipeline import register_pass as register_pass
    from xla_explorer.compiler.transforms.simplifiers.checked_rule import rule as rule
    from xla_explorer.explorer import real_xla
    from xla_explorer.explorer import sharding as sharding
    from xla_explorer.explorer.aot import aot as aot
    from xla_explorer.explorer.catalogue import passes as passes
    from xla_explorer.explorer.comparisons.compare import compare as compare
    from xla_explorer.explorer.comparisons.sweep import sweep as sweep
    from xla_explorer.explorer.compiling import compile as compile
    from xla_explorer.explorer.doctor import doctor as doctor
    from xla_explorer.explorer.exploring import explore as explore
    from xla_explorer.explorer.exploring import graph as graph
    from xla_explorer.explorer.jax_functions import jit as jit
    from xla_explorer.explorer.loading import load as load
    from xla_explorer.explorer.measures import charts as charts
    from xla_explorer.explorer.measures.trace_events import read_timeline as read_timeline
    from xla_explorer.explorer.questions.minimization import minimize as minimize
    from xla_explorer.explorer.rules.proofs import prove as prove
    from xla_explorer.explorer.sameness.reproducer import kernel_reproducer as kernel_reproducer
    from xla_explorer.explorer.sameness.same import same as same
    from xla_explorer.explorer.searching import search_fusion as search_fusion
    from xla_explorer.explorer.session import Session as Session
    from xla_explorer.explorer.sessions.arguments import random_arguments as random_arguments
    from xla_explorer.explorer.sessions.examples import example as example
    from xla_explorer.explorer.sessions.given_modules import evaluate as evaluate
    from xla_explorer.explorer.sessions.given_modules import verify as verify
    from xla_explorer.explorer.sessions.isolation import Isolation as Isolation
    from xla_explorer.explorer.sessions.options import options as options
    from xla_explorer.explorer.trace import optimize as optimize
    from xla_explorer.explorer.tuning import tune as tune
    from xla_explorer.explorer.warming import warm_up as warm_up
    from xla_explorer.foundation.diagnostic import XlaExplorerError as XlaExplorerError
    from xla_explorer.foundation.reason import Reason as Reason
    from xla_explorer.frontends.jax_program import from_jax as from_jax
    from xla_explorer.frontends.stablehlo import parse_stablehlo as parse_stablehlo
    from xla_explorer.hlo import TracingRoom
    from xla_explorer.hlo.builder import HloBuilder as HloBuilder
    from xla_explorer.hlo.module import HloModule as HloModule
    from xla_explorer.hlo.primitive_type import PrimitiveType
    from xla_explorer.hlo.text import parse_hlo as parse_hlo

    hlo: TracingRoom
    pred: PrimitiveType
    token: PrimitiveType
    opaque: PrimitiveType
    s1: PrimitiveType
    u1: PrimitiveType
    s2: PrimitiveType
    u2: PrimitiveType
    s4: PrimitiveType
    u4: PrimitiveType
    s8: PrimitiveType
    u8: PrimitiveType
    s16: PrimitiveType
    u16: PrimitiveType
    s32: PrimitiveType
    u32: PrimitiveType
    s64: PrimitiveType
    u64: PrimitiveType
    f16: PrimitiveType
    bf16: PrimitiveType
    f32: PrimitiveType
    f64: PrimitiveType
    c64: PrimitiveType
    c128: PrimitiveType
    f4e2m1fn: PrimitiveType
    f6e2m3fn: PrimitiveType
    f6e3m2fn: PrimitiveType
    f8e5m2: PrimitiveType
    f8e4m3: PrimitiveType
    f8e4m3fn: PrimitiveType
    f8e4m3b11fnuz: PrimitiveType
    f8e5m2fnuz: PrimitiveType
    f8e4m3fnuz: PrimitiveType
    f8e3m4: PrimitiveType
    f8e8m0fnu: PrimitiveType

    xla = real_xla
