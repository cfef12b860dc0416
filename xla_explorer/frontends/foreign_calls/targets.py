"""Foreign functions that are registered in this process, and the evaluator's calls of them.

A function that is registered for JAX's own CPU serves our programs, too: both have their arrays in
the memory of the host.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.frontends.foreign_calls import interface
from xla_explorer.frontends.foreign_calls.attributes import read_foreign_attributes
from xla_explorer.frontends.foreign_calls.frame import CallFrame
from xla_explorer.frontends.foreign_calls.interface import ForeignError, ForeignState
from xla_explorer.hlo.analysis.custom_calls import custom_call_target
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.evaluator import CUSTOM_CALL_FUNCTIONS, CUSTOM_CALL_SOURCES, TOKEN_VALUE
from xla_explorer.hlo.evaluator.devices.foreign_call import (
    ANSWER,
    FOREIGN,
    STAGES,
    foreign_shapes,
    in_place_operands,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, parse_shape, tuple_shape

_TYPED = 1  # JAX's version number of the interface with typed arguments
_UNIMPLEMENTED = 12  # absl::StatusCode::kUnimplemented
_PLATFORMS = ("xla_explorer", "cpu", "Host")  # jaxlib has two names for its CPU
_KEPT_CALLS = 1024
_ARROW = "->"
_WRITTEN_BY_US = (
    f"leave out frontend_attributes={{{FOREIGN}=...}}: xe.jit, xe.from_jax and the plugin write it"
)


class ForeignTarget(NamedTuple):
    """A registered function: the addresses of its handlers by stage.

    version: of the interface, as JAX numbers it.
    """

    stages: tuple[int, int, int, int]
    version: int


def registered_target(name: str) -> ForeignTarget | None:
    """Return the function registered under a name for our platform, or else for JAX's CPU.

    jaxlib returns registered functions once it has made its CPU client. Until then its Python code
    keeps a list, as it does for platforms like ours. None for jaxlib's own handler of Python
    callbacks, whose number is valid only in the process that traced it.
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
    """Assign numbers to the types that wait for a platform; jaxlib has numbered the others."""
    waiting = getattr(sys.modules.get("jaxlib.xla_client"), "_custom_type_id", {})
    for platform in _PLATFORMS:
        for _, given, *_ in waiting.get(platform, ()):
            interface.number_type(
                _address(given["type_id"] if isinstance(given, Mapping) else given)
            )


def _target(function: Any, version: int) -> ForeignTarget:
    stages = function if isinstance(function, Mapping) else {"execute": function}
    instantiate, prepare, initialize, execute = (
        _address(stages.get(stage)) for stage in interface.STAGES
    )
    return ForeignTarget((instantiate, prepare, initialize, execute), version)


def _address(capsule: Any) -> int:
    if capsule is None:
        return 0
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer_of(capsule, name_of(capsule)) or 0)


# -- calling ---------------------------------------------------------------------------------------
class _Call:
    """A call site: its handlers, their state, and records of runs."""

    def __init__(self, name: str, target: ForeignTarget, i: HloInstruction) -> None:
        self.name, self.target, self.state = name, target, ForeignState()
        operands, result = _function_shapes(i)
        self._operands, self._results = operands, [leaf for _, leaf in result.leaves()]
        self._made = [leaf for _, leaf in i.shape.leaves()]
        self._is_tuple = i.shape.is_tuple
        self._in_place = in_place_operands(i)
        config = str(i.attributes.get("backend_config") or "")
        self.attributes = read_foreign_attributes(config) if config.startswith("{") else {}
        self._records: list[_Record] = []
        self._lock = threading.Lock()
        if target.stages[interface.INSTANTIATE]:
            _number_types()
            self.run_stage(
                CallFrame((), (), self.attributes, self.state.address), interface.INSTANTIATE
            )

    def __call__(self, values: Sequence[Any]) -> Any:
        """Return the results as the evaluator represents them."""
        given = [
            np.ascontiguousarray(value) if shape.is_array else None
            for shape, value in zip(self._operands, values, strict=True)
        ]
        made = [
            np.zeros(leaf.dimensions, leaf.element_type.dtype) if leaf.is_array else None
            for leaf in self._made
        ]
        operands, results = [
            [a.ctypes.data if a is not None else None for a in arrays] for arrays in (given, made)
        ]
        for operand, result in self._in_place.items():
            into, taken = made[result], given[operand]
            if into is not None and taken is not None:
                into[...] = taken.reshape(into.shape)
                operands[operand] = results[result]
        with self._lock:
            record = self._records.pop() if self._records else None
        record = record or self.record()
        record.frame.enter([*operands, *results])
        record.run_from(interface.PREPARE)
        with self._lock:
            self._records.append(record)
        answers = tuple([TOKEN_VALUE if array is None else array for array in made])
        return answers if self._is_tuple else answers[0]

    def record(self) -> _Record:
        """Return a record for one run at a time."""
        return _Record(
            self, CallFrame(self._operands, self._results, self.attributes, self.state.address)
        )

    def run_stage(self, frame: CallFrame, stage: int) -> None:
        """Call the stage's handler."""
        frame.frame.stage, frame.frame.future = stage, None
        self.raise_error(frame, interface.HANDLER(self.target.stages[stage])(frame.address))

    def raise_error(self, frame: CallFrame, error: int | None) -> None:
        """Raise the error that a handler returned, or that of its future."""
        if error is None and frame.frame.future:
            error = interface.take_future(frame.frame.future)
        if error is not None:
            status, message = interface.take_error(error)
            raise ForeignError(f"the foreign function {self.name} failed: {message}", status=status)


class _Record:
    """Arguments of a call, for native code (see `hlo.evaluator.devices.foreign_call`).

    address: of the words that native code reads.
    """

    def __init__(self, call: _Call, frame: CallFrame) -> None:
        self.call, self.frame = call, frame
        words = [*[call.target.stages[stage] for stage in STAGES], frame.address, 0, *frame.buffers]
        self._words = (ctypes.c_size_t * len(words))(*words)
        self.address = ctypes.addressof(self._words)

    def finish(self) -> None:
        """Raise the error of the last stage that ran, or run the remaining stages."""
        self.call.raise_error(self.frame, self._words[ANSWER] or None)
        self.run_from(self.frame.frame.stage + 1)

    def run_from(self, first: int) -> None:
        """Run the stages of one call from stage `first` on."""
        for stage in STAGES:
            if stage >= first and self.call.target.stages[stage]:
                self.call.run_stage(self.frame, stage)


def _function_shapes(i: HloInstruction) -> tuple[list[Shape], Shape]:
    """Return the shapes of operands and result that the function gets.

    ForeignError if their memory differs from that of the call's own shapes.
    """
    text = foreign_shapes(i)
    try:
        operands, result = (
            text.split(_ARROW) if text is not None else _required_shapes(i).split(_ARROW)
        )
        given = list(parse_shape(operands).tuple_shapes), parse_shape(result)
    except (ValueError, XlaExplorerError) as problem:
        raise ForeignError(
            f"%{i.name} names the shapes {text}, which cannot be read", _WRITTEN_BY_US
        ) from problem
    if not (
        _have_equal_memory(given[0], [o.shape for o in i.operands])
        and _have_equal_memory([given[1]], [i.shape])
    ):
        raise ForeignError(
            f"%{i.name} names the shapes {text}, which differ in memory from its own arrays",
            _WRITTEN_BY_US,
        )
    if text is None and any(
        not leaf.layout.is_default
        for shape in (*given[0], given[1])
        for _, leaf in shape.leaves()
        if leaf.is_array
    ):
        raise ForeignError(
            f"%{i.name} requires arrays in other layouts than row-major",
            "compile the program with xe.jit or the plugin",
        )
    return given


def _have_equal_memory(given: list[Shape], own: list[Shape]) -> bool:
    """Return True if shapes have the same elements in the same order of memory."""
    leaves = [[leaf for shape in shapes for _, leaf in shape.leaves()] for shapes in (given, own)]
    return len(leaves[0]) == len(leaves[1]) and all(map(_has_equal_memory, *leaves))


def _has_equal_memory(given: Shape, own: Shape) -> bool:
    if not (given.is_array and own.is_array):
        return given.base is own.base
    stored = [
        given.dimensions[d] for d in _stored(given)
    ]  # arrays come row-major, see `bind_foreign_calls`
    return given.element_type is own.element_type and [n for n in stored if n != 1] == [
        n for n in own.dimensions if n != 1
    ]


def _required_shapes(i: HloInstruction) -> str:
    """Return the shapes of operands and result in the layouts that the function requires."""
    text = i.attributes.get("operand_layout_constraints")
    wanted = parse_shape(f"({text.strip()[1:-1]})").tuple_shapes if isinstance(text, str) else ()
    operands = wanted if len(wanted) == len(i.operands) else [o.shape for o in i.operands]
    return f"({', '.join([s.text for s in operands])}){_ARROW}{i.shape.text}"


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
            f"the foreign function {name} has the untyped interface, which XLA:CPU does not call "
            "either",
            "write it with xla/ffi/api/ffi.h, register it with api_version=1",
            _UNIMPLEMENTED,
        )
    return _Call(name, target, site.instruction)


class _Meaning:
    """Meaning of a call for the evaluator and native code, a `ForeignFunction`.

    See `hlo.evaluator.devices.foreign_call`.
    """

    def __init__(self, name: str, target: ForeignTarget) -> None:
        self._name, self._target = name, target

    def __call__(self, i: HloInstruction, values: Sequence[Any], _: Any) -> Any:
        return _call_of(self._name, self._target, _Site(i))(values)

    def record(self, i: HloInstruction) -> _Record:
        """Return a record of the call for a compiled program."""
        return _call_of(self._name, self._target, _Site(i)).record()


def _meaning(name: str) -> _Meaning | None:
    target = registered_target(name)
    return None if target is None else _Meaning(name, target)


# -- binding ---------------------------------------------------------------------------------------
def bind_foreign_calls(module: HloModule) -> None:
    """Bind the module's custom calls to their registered functions.

    The compiler keeps arrays row-major, so a function that requires other layouts gets transposed
    arrays.
    """
    if _meaning not in CUSTOM_CALL_SOURCES:
        CUSTOM_CALL_SOURCES.append(_meaning)
    for i in list(module.instructions()):
        if i.opcode.name != "custom-call" or "frontend_attributes" in i.attributes:
            continue
        name = custom_call_target(i)
        target = registered_target(name) if name not in CUSTOM_CALL_FUNCTIONS else None
        if (
            target is not None
            and target.version == _TYPED
            and not any(o.shape.is_tuple for o in i.operands)
        ):
            _bind(i)


def _bind(i: HloInstruction) -> None:
    computation, text = i.parent, _required_shapes(i)
    attributes = i.attributes.with_values(
        operand_layout_constraints=None, frontend_attributes=f'{{{FOREIGN}="{text}"}}'
    )
    given = parse_shape(text.split(_ARROW)[0]).tuple_shapes
    operands = [
        _transposed(o, _stored(shape)) if shape.is_array else o
        for o, shape in zip(i.operands, given, strict=True)
    ]
    if i.shape is i.shape.base:
        computation.set_operands(i, operands)
        computation.set_attributes(i, attributes)
        return
    wanted = [leaf for _, leaf in i.shape.leaves()]
    made = [
        s.with_dimensions([s.dimensions[d] for d in _stored(s)]) if s.is_array else s
        for s in wanted
    ]
    shape = tuple_shape(made) if i.shape.is_tuple else made[0]
    call = computation.add(
        i.opcode, shape, operands, attributes, called=i.called, metadata=i.metadata
    )
    parts = [call]
    if shape.is_tuple:
        parts = [
            computation.add("get-tuple-element", part, (call,), attributes_of({"index": k}))
            for k, part in enumerate(made)
        ]
    transposed = [_transposed(part, [_stored(s).index(d) for d in range(s.rank)]) if s.is_array else part
              for part, s in zip(parts, wanted, strict=True)]  # fmt: skip
    computation.replace(
        i, computation.add("tuple", None, transposed) if shape.is_tuple else transposed[0]
    )
    computation.remove(i)


def _stored(shape: Shape) -> list[int]:
    """Return the dimensions in memory order, the slowest first."""
    return list(reversed(shape.layout.minor_to_major))


def _transposed(i: HloInstruction, order: list[int]) -> HloInstruction:
    """Return the array with its dimensions in another order."""
    if order == sorted(order):
        return i
    shape = i.shape.with_dimensions([i.shape.dimensions[d] for d in order])
    return i.parent.add(
        "transpose", shape, (i,), attributes_of({"dimensions": tuple(order)}), metadata=i.metadata
    )
