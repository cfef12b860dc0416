"""`xe.load`: a module from a file, or everything that a folder written by XLA holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from xla_explorer.explorer.sessions.loading import (
    EntryChoice,
    checked_path,
    in_explicit_precision,
    module_of_file,
    saved_module,
)
from xla_explorer.explorer.xla_dump import XlaDump
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.limits import limited_run
from xla_explorer.hlo.module import HloModule


@explains_arguments
@limited_run()
def load(
    path: str | os.PathLike[str],
    *,
    function: str | None = None,
    shapes: Sequence[Any] | None = None,
    mixed_precision: bool = False,
) -> HloModule | XlaDump:
    """Read a module from a file.

    HLO text (`.hlo`, `.txt`), HLO protos (`.hlo.pb`: HloModuleProto, HloProto, HloSnapshot),
    StableHLO or MHLO (`.mlir` as text; bytecode or portable artifacts with the extra `jax`), also
    gzipped (`.gz`). A folder that XLA wrote with `--xla_dump_to` is an `XlaDump`; that of a
    TensorFlow SavedModel or of torch_xla's `save_as_stablehlo` gives the largest StableHLO program
    in it.

    Parameters
    ----------
    path : str or path
        The file or folder.
    function : str, optional
        The entry function of StableHLO or MHLO text, with or without `@`, private or not. By
        default `main`, or the only public one, or the only one.
    shapes : sequence, optional
        For StableHLO with dynamic sizes (`tensor<?x3xf32>`), one entry for each argument of the
        function: a shape such as `(2, 3)`, `()` for a scalar, or an array of that shape. An
        argument whose value decides sizes is given by its value, such as `np.int64(2)`. The module
        is for that value, but still takes the argument. `None` leaves an argument as it is.
    mixed_precision : bool, default False
        Write out the conversions of instructions whose float operands and results differ in
        precision, as in a TPU's optimised HLO. Files with a TPU's tiled layouts need no option:
        they are converted, with a warning.

    Returns
    -------
    HloModule or XlaDump
        The module, or the folder's modules.

    Raises
    ------
    HloParseError
        The text is malformed; with the place in the file.
    LoadError
        The file does not exist, cannot be read, or unpacks to more bytes than the environment's
        XLA_EXPLORER_LARGEST_FILE (1 GiB).
    ProtoError
        A serialized proto that is cut off, or holds no HLO module.
    DumpError
        The folder holds no dump.
    SavedModelError
        The SavedModel holds no StableHLO.
    StablehloError
        MLIR text that cannot be read, with the place; StablehloUnsupportedError: with the Reason.
    MissingExtraError, MlirConversionError
        Bytecode without jaxlib, or bytecode that jaxlib refuses.

    Examples
    --------
    >>> from pathlib import Path
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[4] parameter(0) e = f32[4] exponential(x)
    ...   ROOT r = f32[4] add(e, x) }'''
    >>> written = Path("small.hlo").write_text(text)
    >>> xe.load("small.hlo").entry.root.name
    'r'
    """
    checked = checked_path(path)
    entry = EntryChoice(function, shapes)
    found = saved_module(checked, entry)
    if found is None:
        if _is_folder(checked) and not entry.is_made:
            return XlaDump(checked)
        found = module_of_file(checked, entry)
    return in_explicit_precision(found) if mixed_precision else found


def _is_folder(path: os.PathLike[str]) -> bool:
    try:
        return os.path.isdir(path)
    except (OSError, ValueError):  # a name that no file can have; reading it raises
        return False
