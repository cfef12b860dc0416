"""Which foreign functions are registered in this process, and the evaluator's step that calls one.

A function that is registered for JAX's own CPU serves our programs, too: both have their arrays in the memory of the host.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.frontends.foreign_calls import interface
from xla_explorer.frontends.foreign_calls.attributes import read_foreign_attributes
from xla_explorer.frontends.foreign_calls.frame import CallFrame
from xla_explorer.frontends.foreign_calls.interface import ForeignError, ForeignState
from xla_explorer.hlo.attributes.dictionary_text import frontend_attribute_values
from xla_explorer.hlo.evaluator import CUSTOM_CALL_FUNCTIONS, CUSTOM_CALL_SOURCES, TOKEN_VALUE
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, parse_shape

_TYPED = 1  # JAX's number of the interface's version
_UNIMPLEMENTED = 12  # absl's
_PLATFORMS = ("xla_explorer", "cpu", "Host")  # jaxlib has two names for its CPU
_KEPT_CALLS = 1024
_RESULT = "xla_explorer.result_shape"


class ForeignTarget(NamedTuple):
    """A registered function: the addresses of its handlers by stage. version: of the interface, as JAX numbers it."""

    stages: tuple[int, int, int, int]
    version: int


def registered_target(name: str) -> ForeignTarget | None:
    """The function of that name that was registered for our platform, or else for JAX's CPU.

    jaxlib hands over what was registered once it has made its CPU; until then its Python keeps a list, as it does for platforms like ours.
    None for jaxlib's own handler of Python callbacks: a number stands for the function, which only the process that traced it has.
    """
    if name.endswith("_python_cpu_callback"):
        return None
    client = sys.modules.get("jaxlib.xla_client")  # without it nothing can have been registered
    waiting = getattr(client, "_custom_callback", {})
    for platform in _PLATFORMS:
        for known, function, version, *_ in reversed(waiting.get(platform, ())):
            if known == name:
                return _target(function, version)
    targets = getattr(client, "custom_call_targets", None)
    found = targets(_PLATFORMS[-1]).get(name) if targets is not None else None
    return None if found is None else _target(found, _TYPED if isinstance(found, Mapping) else 0)


def _number_types() -> None:
    """Give the types that wait for a platform to be made a number each; jaxlib has numbered the others."""
    waiting = getattr(sys.modules.get("jaxlib.xla_client"), "_custom_type_id", {})
    for platform in _PLATFORMS:
        for _, given, *_ in waiting.get(platform, ()):
            interface.number_type(_address(given["type_id"] if isinstance(given, Mapping) else given))


def _target(function: Any, version: int) -> ForeignTarget:
    stages = function if isinstance(function, Mapping) else {"execute": function}
    return ForeignTarget(tuple([_address(stages.get(stage)) for stage in interface.STAGES]), version)  # type: ignore[arg-type]


def _address(capsule: Any) -> int:
    if capsule is None:
        return 0
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer_of(capsule, name_of(capsule)) or 0)


# -- calling -------------------------------------------------------------------------------------------------------------
class _Array(NamedTuple):
    """How an operand or result lies in memory: its sizes from the slowest to the fastest, and the order that makes them logical ones."""

    sizes: tuple[int, ...]
    stored: tuple[int, ...]
    logical: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, shape: Shape) -> _Array | None:
        """None of a token."""
        if not shape.is_array:
            return None
        stored = tuple(reversed(shape.layout.minor_to_major))
        logical = tuple(sorted(range(len(stored)), key=stored.__getitem__))
        return cls(tuple([shape.dimensions[d] for d in stored]), stored, logical, shape.element_type.dtype)


class _Call:
    """A call site: its handlers, what they keep, and frames of runs."""

    def __init__(self, name: str, target: ForeignTarget, i: HloInstruction) -> None:
        self.name, self.target, self.state = name, target, ForeignState()
        self._operand_shapes, self._result_shapes = _operand_shapes(i), [leaf for _, leaf in _result_shape(i).leaves()]
        self._operands, self._results = [_Array.of(s) for s in self._operand_shapes], [_Array.of(s) for s in self._result_shapes]
        self._is_tuple = i.shape.is_tuple
        self._aliases = [(a.output_index[0] if a.output_index else 0, a.operand_number)
                         for a in i.attributes.get("output_to_operand_aliasing") or ()]
        config = str(i.attributes.get("backend_config") or "")
        self.attributes = read_foreign_attributes(config) if config.startswith("{") else {}
        self._frames: list[CallFrame] = []
        self._lock = threading.Lock()
        if target.stages[interface.INSTANTIATE]:
            _number_types()
            self._stage(CallFrame((), (), self.attributes, self.state.address), interface.INSTANTIATE)

    def __call__(self, values: Sequence[Any]) -> Any:
        """The results as the evaluator has them."""
        given = [np.ascontiguousarray(np.asarray(value).transpose(a.stored)) if a is not None else None
                 for a, value in zip(self._operands, values, strict=True)]
        made = [np.zeros(a.sizes, a.dtype) if a is not None else None for a in self._results]
        operands, results = [[a.ctypes.data if a is not None else None for a in arrays] for arrays in (given, made)]
        for result, operand in self._aliases:
            into, taken = made[result], given[operand]
            if into is not None and taken is not None:
                into[...] = taken.reshape(into.shape)
                operands[operand] = results[result]
        self._run([*operands, *results])
        answers = tuple([array.transpose(a.logical) if array is not None and a is not None else TOKEN_VALUE
                         for array, a in zip(made, self._results, strict=True)])
        return answers if self._is_tuple else answers[0]

    def _run(self, addresses: Sequence[int | None]) -> None:
        with self._lock:
            frame = self._frames.pop() if self._frames else None
        frame = frame or CallFrame(self._operand_shapes, self._result_shapes, self.attributes, self.state.address)
        frame.enter(addresses)
        for stage in (interface.PREPARE, interface.INITIALIZE, interface.EXECUTE):
            if self.target.stages[stage]:
                self._stage(frame, stage)
        with self._lock:
            self._frames.append(frame)

    def _stage(self, frame: CallFrame, stage: int) -> None:
        frame.frame.stage, frame.frame.future = stage, None
        error = interface.HANDLER(self.target.stages[stage])(frame.address)
        if error is None and frame.frame.future:
            error = interface.take_future(frame.frame.future)
        if error is not None:
            status, message = interface.take_error(error)
            raise ForeignError(f"the foreign function {self.name} failed: {message}", status=status)


def _operand_shapes(i: HloInstruction) -> list[Shape]:
    """In the layouts that the call wants."""
    text = i.attributes.get("operand_layout_constraints")
    wanted = parse_shape(f"({text.strip()[1:-1]})").tuple_shapes if isinstance(text, str) else ()
    return list(wanted) if len(wanted) == len(i.operands) else [o.shape for o in i.operands]


def _result_shape(i: HloInstruction) -> Shape:
    """In the layouts that the call writes."""
    text = frontend_attribute_values(str(i.attributes.get("frontend_attributes") or "")).get(_RESULT)
    return parse_shape(text) if text else i.shape


class _Site:
    """An instruction as a key: sites with the same shapes and attributes are one call."""

    def __init__(self, i: HloInstruction) -> None:
        self.instruction = i
        self._key = (tuple([o.shape for o in i.operands]), i.shape, i.attributes)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Site) and self._key == other._key


@functools.lru_cache(maxsize=_KEPT_CALLS)
def _call_of(name: str, target: ForeignTarget, site: _Site) -> _Call:
    if target.version != _TYPED:
        raise ForeignError(
            f"the foreign function {name} has the untyped interface, which XLA:CPU does not call either",
            "write it with xla/ffi/api/ffi.h, register it with api_version=1", _UNIMPLEMENTED,
        )
    return _Call(name, target, site.instruction)


def _meaning(name: str) -> Callable[..., Any] | None:
    target = registered_target(name)
    return None if target is None else lambda i, values, _: _call_of(name, target, _Site(i))(values)


def bind_foreign_calls(module: HloModule) -> None:
    """Let the module's calls find their functions. Compiling makes all arrays row-major, so a call keeps the layouts that its function
    writes as an attribute."""
    if _meaning not in CUSTOM_CALL_SOURCES:
        CUSTOM_CALL_SOURCES.append(_meaning)
    for i in list(module.instructions()):
        if i.opcode.name != "custom-call" or i.shape is i.shape.base or "frontend_attributes" in i.attributes:
            continue
        name = str(i.attributes.get("custom_call_target")).strip('"')
        if name not in CUSTOM_CALL_FUNCTIONS and registered_target(name) is not None:
            i.parent.set_attributes(i, i.attributes.with_values(frontend_attributes=f'{{{_RESULT}="{i.shape.text}"}}'))
