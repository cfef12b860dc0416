"""Validation of CPU and feature names by LLVM.

LLVM prints a message to stderr for an unknown name, and may abort the process later. So the check
runs in a child process, and its stderr is parsed.
"""

from __future__ import annotations

import functools
import re
import subprocess

from xla_explorer.foundation.child_python import child_environment, code_command
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.foundation.suggestions import nearest

_QUESTION = """
import sys
import llvmlite.binding as binding
binding.initialize_all_targets()
binding.initialize_all_asmprinters()
triple, cpu, features, abi = sys.argv[1:]
target = binding.Target.from_triple(triple)
machine = target.create_target_machine(cpu=cpu, features=features, abiname=abi)
module = binding.parse_assembly("define void @f() {\\n  ret void\\n}")
module.triple, module.data_layout = triple, str(machine.target_data)
machine.emit_object(module)
"""
_UNKNOWN = re.compile(r"'([^']*)' is not a recognized (processor|feature)")
_NAME = re.compile(r"^  ([\w.+-]+) +- ", re.MULTILINE)


@functools.lru_cache(maxsize=64)
def unknown_names(triple: str, cpu: str, features: str, abi_name: str = "") -> Reason | None:
    """Return a refusal for a CPU or feature that LLVM lacks, with the nearest names; else None."""
    answer = _ask(triple, cpu, features, abi_name)
    found = _UNKNOWN.search(answer.stderr)
    if found is not None:
        name, kind = found.groups()
        known = _NAME.findall(_ask(triple, "help", "", abi_name).stderr)
        near = nearest(name.lstrip("+-"), known, 3)
        hint = f"; the nearest are {', '.join(near)}" if near else ""
        return refuse(
            "unknown-cpu",
            f"LLVM knows no {kind} {name!r} for {triple}{hint}",
            name=name,
            kind=kind,
            near=near,
        )
    if answer.returncode:
        message = (
            answer.stderr.strip().splitlines()[-1]
            if answer.stderr.strip()
            else f"status {answer.returncode}"
        )
        return refuse(
            "target-not-possible",
            f"LLVM has no target {triple} with cpu {cpu!r} and features {features!r}: {message}",
        )
    return None


def _ask(triple: str, cpu: str, features: str, abi_name: str) -> subprocess.CompletedProcess[str]:
    command = code_command(_QUESTION, triple, cpu, features, abi_name)
    return subprocess.run(
        command,
        env=child_environment(),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
