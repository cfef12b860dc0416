"""`xe.kernel_reproducer`: one kernel with its real tensors, as a script that runs alone."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xla_explorer.explorer.code.kernel_alone import module_of_kernel
from xla_explorer.explorer.code.named_kernel import kernel_of
from xla_explorer.explorer.display import Blocks, Code, Report, Sentence, Table
from xla_explorer.explorer.sameness.sides import type_text
from xla_explorer.explorer.sessions.arguments import Array, Signature, random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, source_line
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.file_writing import explained_writing, write_file
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.limits import limited_run
from xla_explorer.hlo.evaluator import Evaluator, evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_SCRIPT = '''"""The kernel {name}{line}, with the tensors of a run of {program}.

python {stem}.py            compiles it with xla_explorer, runs it, compares, times
python {stem}.py --jax      the same with the XLA of jax
"""

import argparse
import pathlib
import sys
import time

import ml_dtypes  # the narrow types
import numpy as np

HLO = {text}
TYPES = {types}
RESULTS = {results}


def arrays(prefix, types):
    """Return the stored arrays; narrow types are stored by their bits."""
    stored = np.load(pathlib.Path(__file__).with_suffix(".npz"), allow_pickle=False)
    found = []
    for number, name in enumerate(types):
        kind = np.dtype(getattr(ml_dtypes, name, None) or name)
        found.append(stored[f"{{prefix}}{{number}}"].view(kind))
    return found


def with_xla_explorer(backend):
    """Return a function that runs the kernel."""
    import xla_explorer as xe

    session = xe.compile(HLO, backend, passes="none")
    return lambda given: session.run_flat(list(given))


def with_jax():
    """Return a function that runs the kernel by the XLA of jax."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from jaxlib import _jax, xla_client

    parse = getattr(_jax, "hlo_module_from_text", None)
    if parse is None:
        from jaxlib import _hlo

        parse = _hlo.hlo_module_from_text
    device = jax.devices()[0]
    stablehlo = _jax.mlir.hlo_to_stablehlo(parse(HLO).as_serialized_hlo_module_proto())
    program = device.client.compile_and_load(
        stablehlo, _jax.DeviceList((device,)), xla_client.CompileOptions()
    )
    return lambda given: program.execute([jax.device_put(one, device) for one in given])


def worst(expected, actual):
    """Return the largest difference, relative to the largest finite value."""
    kind = complex if expected.dtype.kind == "c" else float
    a, b = expected.astype(kind), np.asarray(actual).astype(kind)
    fine = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not (fine | finite).all():
        return float("inf")
    apart = np.abs(np.where(fine | ~finite, 0, a) - np.where(fine | ~finite, 0, b))
    scale = np.abs(np.where(np.isfinite(a), a, 0)).max(initial=0)
    return float(apart.max(initial=0) / scale) if scale else float(apart.max(initial=0))


def main():
    """Run the kernel; the exit code is 1 if its results differ from the stored ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--jax", action="store_true", help="compile with the XLA of jax")
    parser.add_argument("--backend", default="{backend}", help="of xla_explorer: cpu, gpu, interpreter")
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    run = with_jax() if given.jax else with_xla_explorer(given.backend)
    inputs, expected = arrays("argument", TYPES), arrays("result", RESULTS)
    found = [np.asarray(one) for one in run(inputs)]
    error = max((worst(a, b) for a, b in zip(expected, found, strict=True)), default=0.0)
    times = []
    for _ in range(given.repeats):
        start = time.perf_counter()
        for one in run(inputs):
            np.asarray(one)
        times.append(time.perf_counter() - start)
    narrow = any(np.dtype(getattr(ml_dtypes, t, None) or t).itemsize < 4 for t in RESULTS)
    bad = error > (2e-2 if narrow else 1e-4)
    print(f"{name}: {{'DIFFERENT' if bad else 'equal'}}, largest relative difference {{error:.3g}}")
    if times:
        print(f"fastest of {{len(times)}} runs: {{min(times) * 1e6:.1f}} us, with copies")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
'''


class KernelReproducer(Report):
    """A kernel with its tensors; `save(folder)` writes both files.

    Attributes
    ----------
    name : str
        The kernel.
    text : str
        Its module as HLO text.
    arguments, results : tuple of arrays
        The leaves of its operands in a run of the whole program, and of its results.
    script : str
        The script.
    path : Path or None
        The script's file, after `save`.
    """

    def __init__(self, session: Compilation, kernel: HloInstruction, leaves: list[Array]) -> None:
        module = module_of_kernel(kernel)
        self.name, self.text = kernel.name, module.to_text()
        self.arguments = tuple(leaves)
        packed = Signature(module).pack_arguments(leaves)
        with np.errstate(all="ignore"):
            self.results = tuple(
                [np.asarray(one) for one in flatten_value(evaluate(module, *packed))]
            )
        self.stem = f"{_word(kernel.name)}_{self._digest()}"
        self.path: Path | None = None
        line = source_line(session, kernel)
        self.script = _SCRIPT.format(
            name=_word(kernel.name),
            line=f" of {_one_line(line)}" if line else "",
            program=_word(session.source.name),
            stem=self.stem,
            text=_literal(self.text),
            types=[str(one.dtype) for one in self.arguments],
            results=[str(one.dtype) for one in self.results],
            backend=session.backend if session.backend in ("cpu", "gpu") else "interpreter",
        )

    def _digest(self) -> str:
        """Return the first digits of the hash of text and tensors."""
        found = hashlib.sha256(self.text.encode())
        for array in self.arguments:
            found.update(array.tobytes())
        return found.hexdigest()[:10]

    @property
    def tensors(self) -> bytes:
        """The arrays as an .npz file; narrow types by their bits."""
        named = {f"argument{k}": _stored(one) for k, one in enumerate(self.arguments)}
        named |= {f"result{k}": _stored(one) for k, one in enumerate(self.results)}
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **named)
        return file.getvalue()

    def save(self, folder: str | Path = ".") -> Path:
        """Write the script and the tensors into a folder; return the script's path."""
        there = Path(folder)
        with explained_writing(there):
            there.mkdir(parents=True, exist_ok=True)
        write_file(there / f"{self.stem}.npz", self.tensors)
        self.path = write_file(there / f"{self.stem}.py", self.script)
        return self.path

    def headline(self) -> str:
        """Return the kernel and its file."""
        size = sum([one.nbytes for one in (*self.arguments, *self.results)])
        where = f": python {self.path}" if self.path is not None else ""
        return f"%{self.name} alone, with {size} bytes of tensors{where}"

    def blocks(self) -> Blocks:
        """Yield the arguments, the results and the module."""
        rows = [
            (what, number, type_text(one))
            for what, arrays in (("argument", self.arguments), ("result", self.results))
            for number, one in enumerate(arrays)
        ]
        yield Table(["what", "number", "type"], rows)
        yield Code("module", self.text, "hlo")
        if self.path is not None:
            yield Sentence(f"run it: python {self.path}")


@explains_arguments
@limited_run()
def kernel_reproducer(
    session: Compilation,
    kernel: str | int | HloInstruction,
    *arrays: Any,
    folder: str | Path | None = ".",
) -> KernelReproducer:
    """Write one kernel with its real tensors as a script that runs alone.

    The operands have the values of a run of the whole program by the evaluator. The script compiles
    the kernel by xla_explorer, or with `--jax` by the XLA of jax, compares the results and times.

    Parameters
    ----------
    session : Session
        The compile.
    kernel : str or HloInstruction
        The kernel, or an instruction inside it.
    *arrays
        The arguments of the program; random ones if missing.
    folder : str, Path or None
        Where to write the `.py` and `.npz` files; None writes none.

    Returns
    -------
    KernelReproducer
        The script, its path and the tensors.

    Raises
    ------
    XlaExplorerError
        The module has no such kernel, or it did not run: it is in a branch not taken.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile(xe.example())
    >>> fusion = next(name for name in session.kernels()["kernel"])
    >>> found = xe.kernel_reproducer(session, fusion, folder=None)
    >>> "import numpy as np" in found.script
    True
    """
    instruction = kernel_of(session, kernel)
    if instruction.opcode.name in ("parameter", "constant"):
        raise XlaExplorerError(
            f"%{instruction.name} is a {instruction.opcode.name}, which no kernel computes",
            "the kernels are listed by session.kernels()",
        )
    found = KernelReproducer(session, instruction, _operands(session, instruction, arrays))
    if folder is not None:
        found.save(folder)
    return found


def _operands(session: Compilation, i: HloInstruction, arrays: Sequence[Any]) -> list[Array]:
    """Return the leaves of a kernel's operands in a run of the whole program."""
    module = session.module
    given = session.signature.leaves(arrays) if arrays else []
    packed = Signature(module).pack_arguments(given) if given else random_arguments(module)
    wanted = list(dict.fromkeys(i.operands))
    values = _values(module, packed)
    missing = [o.name for o in wanted if o.id not in values]
    if missing:
        raise XlaExplorerError(
            f"%{i.name} did not run: %{missing[0]} has no value",
            "choose a kernel outside of branches that are not taken",
        )
    return [np.asarray(leaf) for o in wanted for leaf in flatten_value(values[o.id])]


def _values(module: HloModule, packed: Sequence[Any]) -> dict[int, Any]:
    evaluator = Evaluator(record=True)
    with np.errstate(all="ignore"):
        evaluate(module, *packed, evaluator=evaluator)
    return evaluator.values


def _stored(array: Array) -> Array:
    """Return an array that .npz can hold: types of ml_dtypes by their bits."""
    if array.dtype.kind in "biufc":
        return array
    return array.view(f"u{array.dtype.itemsize}")


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)[:80]


def _one_line(text: str) -> str:
    return re.sub(r'["\\\r\n]', " ", text)[:160]


def _literal(text: str) -> str:
    """Return HLO text as a Python literal."""
    if '"""' in text or "\\" in text or not text.isascii():
        return repr(text)
    return f'"""\n{text.rstrip()}\n"""'
