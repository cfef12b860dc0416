"""Library calls as data: computation, types, sizes, and strides of the arrays in memory.

Sizes and strides are in elements. XLA has the same in `GemmBackendConfig`
(xla/service/gpu/backend_configs.proto).
"""

from __future__ import annotations

import json
from typing import NamedTuple

from xla_explorer.hlo.analysis.backend_config import json_config
from xla_explorer.hlo.instruction import HloInstruction

_KEY = "library_call"


class MatrixOperand(NamedTuple):
    """A matrix in memory, column-major as in BLAS.

    rows, columns: as stored. leading: elements from a column to the next. transposed: the product
    reads it transposed. stride: elements to the matrix of the next product, 0 for one matrix.
    """

    rows: int
    columns: int
    leading: int
    transposed: bool
    stride: int


class MatmulCall(NamedTuple):
    """d = epilogue(op(left) op(right) + bias), `batch` times, column-major.

    HLO's a x b is row-major, so the operands are exchanged: left is HLO's second operand. m, n, k:
    op(left) is m x k, op(right) k x n. types: HLO names. compute: `f32`, `tf32` or `f64`. epilogue:
    `none`, `bias`, `relu`, `relu_bias`, `gelu` or `gelu_bias`. operands: positions of left, right
    and, if any, the bias among the instruction's operands. The bias has d's type and m elements.
    """

    m: int
    n: int
    k: int
    batch: int
    left: MatrixOperand
    right: MatrixOperand
    result: MatrixOperand
    operand_type: str
    result_type: str
    compute: str
    epilogue: str
    operands: tuple[int, ...]

    @property
    def library(self) -> str:
        """The library of the routine."""
        return "cublasLt"


class FftCall(NamedTuple):
    """A Fourier transform.

    direction: `FFT`, `IFFT`, `RFFT` or `IRFFT`. lengths: of the transformed (minor) dimensions.
    real_type: `f32` or `f64`.
    """

    direction: str
    lengths: tuple[int, ...]
    batch: int
    real_type: str

    @property
    def library(self) -> str:
        """The library of the routine."""
        return "cufft"


class CholeskyCall(NamedTuple):
    """A Cholesky factorisation.

    lower: the triangle that is read and written, row-major as in HLO. n: rows. type: an HLO name.
    """

    lower: bool
    n: int
    batch: int
    type: str

    @property
    def library(self) -> str:
        """The library of the routine."""
        return "cusolver"


class TriangularSolveCall(NamedTuple):
    """A triangular system, row-major as in HLO; the unknowns are rows x columns.

    transpose: `NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`.
    """

    left_side: bool
    lower: bool
    unit_diagonal: bool
    transpose: str
    rows: int
    columns: int
    batch: int
    type: str

    @property
    def library(self) -> str:
        """The library of the routine."""
        return "cublas"

    @property
    def order(self) -> int:
        """Rows of the triangular matrix."""
        return self.rows if self.left_side else self.columns


class ConvolutionCall(NamedTuple):
    """A cross-correlation or its derivative: result[n, k] = sum of image[n, c] and filter[k, c].

    Fields describe the correlation. form: `forward`, `backward-input` (the image's derivative from
    the result's) or `backward-filter`. image, result: (batch, features, spatial extents ...), with
    strides in that order. filter: (output features, input features of a group, extents ...),
    contiguous; its input features are the major or (features_last) the minor dimension after the
    output features. padding (on both sides), stride, dilation: of each spatial dimension. compute:
    `f32`, `tf32` or `f64`. Operands of the instruction: image and filter; the result's derivative
    and filter; image and the result's derivative.
    """

    form: str
    image: tuple[int, ...]
    image_strides: tuple[int, ...]
    filter: tuple[int, ...]
    features_last: bool
    result: tuple[int, ...]
    result_strides: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    type: str
    compute: str

    @property
    def library(self) -> str:
        """The library of the routine."""
        return "cudnn"


LibraryCall = MatmulCall | FftCall | CholeskyCall | TriangularSolveCall | ConvolutionCall
_KINDS: dict[str, type[LibraryCall]] = {
    "matmul": MatmulCall, "fft": FftCall, "cholesky": CholeskyCall, "triangular-solve": TriangularSolveCall,
    "convolution": ConvolutionCall,
}  # fmt: skip
_NAMES = {kind: name for name, kind in _KINDS.items()}
PRODUCTS = {
    "cublasLt": "cuBLASLt",
    "cublas": "cuBLAS",
    "cufft": "cuFFT",
    "cusolver": "cuSOLVER",
    "cudnn": "cuDNN",
}


def call_name(call: LibraryCall) -> str:
    """Return a name such as `cuBLASLt matmul`."""
    return f"{PRODUCTS[call.library]} {_NAMES[type(call)]}"


def annotate(i: HloInstruction, call: LibraryCall) -> None:
    """Add a call to `backend_config`."""
    config = {**json_config(i), _KEY: {"kind": _NAMES[type(call)], **call._asdict()}}
    i.parent.set_attributes(
        i, i.attributes.with_values(backend_config=json.dumps(config, separators=(",", ":")))
    )


def library_call_of(i: HloInstruction) -> LibraryCall | None:
    """Return the call in `backend_config`, or None."""
    found = json_config(i).get(_KEY)
    if not isinstance(found, dict):
        return None
    values = dict(found)
    kind = _KINDS[str(values.pop("kind"))]
    for name, value in values.items():
        if kind is MatmulCall and name in ("left", "right", "result"):
            values[name] = MatrixOperand(*value)
        elif isinstance(value, list):
            values[name] = tuple(value)
    return kind(**values)
