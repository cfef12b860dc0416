"""Ten kinds of malformed input: what is given, and a word that the diagnostic must hold.

Shared by the tests of Python, notebook and command line.
"""

from __future__ import annotations

HEAD = "HloModule m\n\n"

MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "bad shape": (
        HEAD + "ENTRY e {\n  a = f32[4 parameter(0)\n  ROOT b = f32[4] add(a, a)\n}\n",
        "dimension",
    ),
    "unknown opcode": (
        HEAD + "ENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] adddd(a, a)\n}\n",
        "adddd",
    ),
    "wrong operand count": (
        HEAD + "ENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] add(a)\n}\n",
        "operand",
    ),
    "no computation": (HEAD, "computation"),
    "use before definition": (
        HEAD + "ENTRY e {\n  ROOT b = f32[4] add(a, a)\n  a = f32[4] parameter(0)\n}\n",
        "a",
    ),
    "duplicate name": (
        HEAD
        + "ENTRY e {\n  a = f32[4] parameter(0)\n  a = f32[4] negate(a)\n  ROOT b = f32[4] add(a, a)\n}\n",
        "a",
    ),
    "bad literal": (
        HEAD + "ENTRY e {\n  a = f32[2] constant({1, x})\n  ROOT b = f32[2] add(a, a)\n}\n",
        "x",
    ),
    "unclosed brace": (
        HEAD + "ENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] add(a, a)\n",
        "}",
    ),
    "wrong layout": (
        HEAD + "ENTRY e {\n  a = f32[4,5]{0,0} parameter(0)\n  ROOT b = f32[4,5] add(a, a)\n}\n",
        "layout",
    ),
    "not UTF-8": (
        HEAD.encode()
        + b"ENTRY e {\n  a = f32[4] parameter(0)\n  ROOT \xffb = f32[4] add(a, a)\n}\n",
        "UTF-8",
    ),
}
