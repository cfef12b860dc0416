"""Functions that read or write a batch's registers, from operand text."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group, Lanes
from xla_explorer.backends.gpu.emulator.ptx_text import PtxKernel, PtxSyntaxError, literal_bits
from xla_explorer.backends.gpu.emulator.scalar_types import DTYPES, SIGNED, UNSIGNED, Array, DType

Getter = Callable[[Batch, Lanes], Array]
Setter = Callable[[Batch, Group, Array], None]

_SPECIAL = re.compile(
    r"%(tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|lanemask_\w+|clock\w*|smid|nsmid|gridid|globaltimer\w*|dynamic_smem_size)(\.[xyz])?\Z"
)
_ADDRESS = re.compile(r"\[\s*([%\w$.]+)\s*(?:\+\s*(-?\w+))?\s*\]")
_NAME = re.compile(r"[A-Za-z_$]")


class Names:
    """Register names and addresses of one kernel.

    slots: register -> number. types: dtype of each. read: slots that are ever read.
    """

    def __init__(self, kernel: PtxKernel, addresses: dict[str, int]) -> None:
        self.kernel, self.addresses = kernel, addresses
        self.slots: dict[str, int] = {}
        self.types: list[DType] = []
        self.read: set[int] = set()

    def is_register(self, text: str) -> bool:
        """Return whether text is a register: with % or declared by inline assembly."""
        return text in self.kernel.registers or (text.startswith("%") and not _SPECIAL.match(text))

    def slot(self, name: str) -> int:
        """Return the number of a register; PtxSyntaxError if it is not declared."""
        found = self.slots.get(name)
        if found is None:
            declared = self.kernel.registers
            kind = declared.get(name) or declared.get(name.rstrip("0123456789") + "<")
            if kind is None:
                raise PtxSyntaxError(
                    f"kernel {self.kernel.name} uses the register {name}, which it does not declare"
                )
            found = self.slots[name] = len(self.types)
            self.types.append(DTYPES["pred"] if kind == "pred" else UNSIGNED[DTYPES[kind].itemsize])
        return found

    def address(self, name: str) -> int:
        """Return the address of a variable."""
        try:
            return self.addresses[name]
        except KeyError:
            raise PtxSyntaxError(
                f"kernel {self.kernel.name} names {name}, which must be declared in the kernel "
                "or the module"
            ) from None


def constant(bits: int, dtype: DType) -> Array:
    """Return an array with one entry of a type, from its bits."""
    if dtype.kind == "b":
        return np.array([bool(bits)])
    width = dtype.itemsize
    made: Array = np.array([bits & ((1 << 8 * width) - 1)], UNSIGNED[width]).view(dtype)
    return made


def getter(names: Names, text: str, kind: str) -> Getter:
    """Return a reader of an operand as a PTX type.

    The operand is a register, a special register, a name's address or a literal.
    """
    dtype = DTYPES[kind]
    if names.is_register(text):
        return _register_getter(names, text, dtype)
    if _SPECIAL.match(text):

        def special(batch: Batch, lanes: Lanes) -> Array:
            array = batch.special(text)
            if lanes is not None and len(array) != 1:
                array = array[lanes]
            return array if array.dtype == dtype else array.astype(dtype)

        return special
    if text == "WARP_SZ":
        value = constant(32, dtype)
    elif _NAME.match(text):
        name, _, plus = text.partition("+")
        value = constant(names.address(name.strip()) + int(plus or "0", 0), dtype)
    else:
        value = constant(literal_bits(text, kind), dtype)
    return lambda batch, lanes: value


def _register_getter(names: Names, text: str, dtype: DType) -> Getter:
    slot = names.slot(text)
    names.read.add(slot)
    own = names.types[slot]
    same_width = own.itemsize == dtype.itemsize
    width = UNSIGNED[dtype.itemsize] if dtype.kind != "b" else dtype

    def get(batch: Batch, lanes: Lanes) -> Array:
        if batch.in_flight and slot in batch.in_flight:
            batch.touch_in_flight(slot, lanes)
        array = batch.registers[slot]
        if array is None:
            # Never written: undefined in PTX; LLVM reads such registers only if the value does not
            # matter.
            array = batch.registers[slot] = np.zeros(1, own)
        if lanes is not None and len(array) != 1:
            array = array[lanes]
        if array.dtype == dtype:
            return array
        if same_width:
            return array.view(dtype)
        narrowed: Array = array.view(own).astype(width).view(dtype)
        return narrowed

    return get


def predicate_getter(names: Names, text: str) -> Getter:
    """Return a reader of `%p1` or `!%p1`."""
    if not text.startswith("!"):
        return getter(names, text, "pred")
    get = getter(names, text[1:], "pred")
    return lambda batch, lanes: ~get(batch, lanes)


def setter(names: Names, text: str) -> Setter:
    """Return a writer of a register.

    The writer keeps the array that it is given: callers must not change the array later.
    """
    if text == "_":
        return lambda batch, group, value: None
    slot = names.slot(text)
    own = names.types[slot]
    size = own.itemsize

    def put(batch: Batch, group: Group, value: Array) -> None:
        if value.dtype.itemsize != size:
            # ld.u8 and similar write wider registers; signed types are sign-extended.
            value = value.astype(SIGNED[size] if value.dtype.kind == "i" else own)
        if group.lanes is None:
            batch.registers[slot] = value
            return
        old = batch.registers[slot]
        if old is None:
            old = np.zeros(batch.lanes, value.dtype)
        elif len(old) == 1:
            old = np.full(batch.lanes, old[0], old.dtype)
        if old.dtype != value.dtype:
            old = old.view(value.dtype)
        old[group.lanes] = value
        batch.registers[slot] = old

    return put


def address_getter(names: Names, text: str) -> Getter:
    """Return a reader of `[%rd1+16]` or `[name+16]` as an address (i64)."""
    match = _ADDRESS.match(text)
    if match is None:
        raise PtxSyntaxError(f"kernel {names.kernel.name}: cannot read the address {text}")
    base, offset = match[1], int(match[2] or "0", 0)
    if base.startswith("%") or names.is_register(base):
        wide = names.types[names.slot(base)].itemsize == 8
        get = getter(names, base, "s64" if wide else "u32")
        if wide and not offset:
            return get
        return lambda batch, lanes: get(batch, lanes).astype(np.int64) + offset
    place = np.array(
        [(names.address(base) if _NAME.match(base) else int(base, 0)) + offset], np.int64
    )
    return lambda batch, lanes: place


def vector_parts(text: str) -> list[str]:
    """Return the parts of `{%r1, %r2}`, or the text itself."""
    return [part.strip() for part in text[1:-1].split(",")] if text.startswith("{") else [text]
