"""HLO names and element types in C."""

from __future__ import annotations

import re

from xla_explorer.hlo.primitive_type import PrimitiveType

# Of C23 and C++23, and the names that the generated code uses itself.
_KEYWORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class compl concept const "
    "consteval constexpr constinit const_cast continue co_await co_return co_yield decltype "
    "default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof "
    "static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof "
    "typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq inputs "
    "outputs weights workspace WEIGHTS "
    "WORKSPACE main linux unix I NULL EOF stdin stdout stderr errno"
)
_RESERVED = frozenset(_KEYWORDS.split())
_C_TYPES = {
    "s8": "int8_t",
    "s16": "int16_t",
    "s32": "int32_t",
    "s64": "int64_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f64": "double",
    "c64": "float",
    "c128": "double",
}
_REMARKS = {
    "pred": "0 or 1",
    "f16": "bits of IEEE half precision",
    "bf16": "bits of bfloat16",
    "c64": "pairs: real, imaginary",
    "c128": "pairs: real, imaginary",
}


def c_identifier(name: str) -> str:
    """Return a valid C and C++ name, without reserved underscores."""
    made = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "x"
    return f"x{made}" if made[0].isdigit() else f"{made}_" if made in _RESERVED else made


def c_type(element_type: PrimitiveType) -> str:
    """Return the C type of an element of a buffer; a complex number has two such elements."""
    return _C_TYPES.get(element_type.name, "uint8_t")


def c_elements(element_type: PrimitiveType) -> int:
    """Return the number of values of `c_type` in an element."""
    return 2 if element_type.is_complex else 1


def type_remark(element_type: PrimitiveType) -> str:
    """Return the representation of values if the C type does not define it; else empty."""
    name = element_type.name
    if name not in _REMARKS and name not in _C_TYPES and name != "u8":
        return f"bits of {name}, one element a byte"
    return _REMARKS.get(name, "")
