"""Fakes of the library functions in use; they compute with numpy on the fake driver's memory.

Every call is checked against its documented signature: the number of arguments, their ctypes, the
sizes of attributes, what handles were created. Column-major, as the real ones.
"""

from __future__ import annotations

import ctypes
import itertools

import ml_dtypes
import numpy as np

from tests.backends.gpu.fake_cudnn import FakeCudnn
from xla_explorer.backends.gpu.libraries.matmul import HeuristicResult
from xla_explorer.backends.gpu.libraries.shared_objects import SharedObject

TYPES = {
    0: np.float32,
    1: np.float64,
    2: np.float16,
    14: ml_dtypes.bfloat16,
    4: np.complex64,
    5: np.complex128,
}
LETTERS = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
# Bytes of attributes of cublasLtMatmulDesc, cublasLtMatrixLayout, cublasLtMatmulPreference, by
# number.
DESCRIPTOR_BYTES = {3: 4, 4: 4, 7: 4, 8: 8, 26: 4}
LAYOUT_BYTES = {5: 4, 6: 8}
PREFERENCE_BYTES = {1: 8, 5: 4, 6: 4, 7: 4, 8: 4}


class FakeLibraries(FakeCudnn):
    """calls: (function, plain arguments) in order.

    alive: handles that were created and not destroyed. fail: function -> status, once.
    """

    def __init__(self, driver):
        self.driver, self.calls, self.fail = driver, [], {}
        self.numbers = itertools.count(7000)
        self.alive, self.streams = {}, {}

    def find(self, name):
        return SharedObject(self)

    def __getattr__(self, name):
        implementation = object.__getattribute__(self, f"_{name}")

        def function(*arguments):
            assert len(arguments) == len(function.argtypes), name
            for argument, kind in zip(arguments, function.argtypes, strict=True):
                kind.from_param(argument)  # TypeError for what C would not take
            plain = [
                getattr(a, "value", a) if isinstance(a, ctypes.c_void_p) else getattr(a, "_obj", a)
                for a in arguments
            ]
            self.calls.append((name, plain))
            if name in self.fail:
                return self.fail.pop(name)
            implementation(*plain)
            return 0

        return function

    def named(self, name):
        return [arguments for called, arguments in self.calls if called == name]

    # -- memory
    def matrix(self, address, dtype, rows, columns, leading):
        """Return a column-major matrix as a view of memory."""
        dtype = np.dtype(dtype)
        octets = self.driver.memory.read(address, ((columns - 1) * leading + rows) * dtype.itemsize)
        return np.lib.stride_tricks.as_strided(
            octets.view(dtype), (rows, columns), (dtype.itemsize, leading * dtype.itemsize)
        )

    def written(self, address, size):
        self.driver.memory.write(address, self.driver.memory.read(address, size).copy())

    def _new(self, target, what):
        target.value = next(self.numbers)
        self.alive[target.value] = what

    def _gone(self, handle):
        del self.alive[handle]

    # -- cuBLASLt
    def _cublasLtCreate(self, target):
        self._new(target, "lt")

    _cublasLtDestroy = _cublasLtMatmulDescDestroy = _cublasLtMatrixLayoutDestroy = (
        _cublasLtMatmulPreferenceDestroy
    ) = _gone

    def _cublasLtMatmulDescCreate(self, target, compute, scale):
        self._new(target, {"compute": compute, "scale": scale})

    def _cublasLtMatmulDescSetAttribute(self, descriptor, attribute, value, size):
        assert size == DESCRIPTOR_BYTES[attribute] == ctypes.sizeof(value)
        self.alive[descriptor][attribute] = value.value

    def _cublasLtMatrixLayoutCreate(self, target, kind, rows, columns, leading):
        assert leading >= rows > 0 < columns
        self._new(
            target, {"kind": kind, "rows": rows, "columns": columns, "leading": leading, 5: 1, 6: 0}
        )

    def _cublasLtMatrixLayoutSetAttribute(self, layout, attribute, value, size):
        assert size == LAYOUT_BYTES[attribute] == ctypes.sizeof(value)
        self.alive[layout][attribute] = value.value

    def _cublasLtMatmulPreferenceCreate(self, target):
        self._new(target, {})

    def _cublasLtMatmulPreferenceSetAttribute(self, preference, attribute, value, size):
        assert size == PREFERENCE_BYTES[attribute] == ctypes.sizeof(value)
        self.alive[preference][attribute] = value.value

    def _cublasLtMatmulAlgoGetHeuristic(
        self, handle, operation, a, b, c, d, preference, wanted, results, found
    ):
        assert self.alive[handle] == "lt" and wanted == 1 and isinstance(results, HeuristicResult)
        assert self.alive[preference][1] == 32 << 20 and ctypes.sizeof(results) == 96
        bias = self.alive[operation].get(8)
        assert (bias is not None) == bool(self.alive[operation][7] & 4)
        results.algorithm.data[0] = operation
        found.value = 1

    def _cublasLtMatmul(
        self,
        handle,
        operation,
        alpha,
        a,
        a_layout,
        b,
        b_layout,
        beta,
        c,
        c_layout,
        d,
        d_layout,
        algorithm,
        space,
        size,
        stream,
    ):
        assert (
            self.alive[handle] == "lt"
            and algorithm.data[0] == operation
            and size == 32 << 20
            and stream in self.driver.streams
        )
        assert (c, c_layout) == (d, d_layout)
        how, left, right, result = (
            self.alive[x] for x in (operation, a_layout, b_layout, d_layout)
        )
        scale = {0: ctypes.c_float, 1: ctypes.c_double}.get(how["scale"])
        one, zero = (alpha.value, beta.value) if scale else (alpha[0] + alpha[1], beta[0] + beta[1])
        assert (one, zero) == (1, 0) and left[5] == right[5] == result[5]

        def multiply():
            for number in range(result[5]):
                parts = []
                for address, layout, transposed in ((a, left, how[3]), (b, right, how[4])):
                    dtype = np.dtype(TYPES[layout["kind"]])
                    at = address + number * layout[6] * dtype.itemsize
                    m = self.matrix(at, dtype, layout["rows"], layout["columns"], layout["leading"])
                    wide = m.astype(
                        {"c": np.complex128, "f": np.float64, "V": np.float64}[dtype.kind]
                    )
                    parts.append(wide.T if transposed else wide)
                value = parts[0] @ parts[1]
                kind = np.dtype(TYPES[result["kind"]])
                if how[7] & 4:
                    assert how[26] == result["kind"]
                    value = value + self.matrix(
                        how[8], kind, result["rows"], 1, result["rows"]
                    ).astype(np.float64)
                if how[7] & 2:
                    value = np.maximum(value, 0)
                if how[7] & 32:
                    value = (
                        0.5
                        * value
                        * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
                    )
                at = d + number * result[6] * kind.itemsize
                self.matrix(at, kind, result["rows"], result["columns"], result["leading"])[:] = (
                    value.astype(kind)
                )
                self.written(
                    at,
                    kind.itemsize * ((result["columns"] - 1) * result["leading"] + result["rows"]),
                )

        sizes = [
            (
                address,
                np.dtype(TYPES[x["kind"]]).itemsize
                * ((x[5] - 1) * x[6] + (x["columns"] - 1) * x["leading"] + x["rows"]),
            )
            for address, x in ((a, left), (b, right), (d, result))
        ]
        self.driver._do(stream, multiply, "cublasLtMatmul", sizes[:2], [sizes[2], (space, size)])

    # -- cuBLAS and cuSOLVER
    def _cublasCreate_v2(self, target):
        self._new(target, "blas")

    def _cusolverDnCreate(self, target):
        self._new(target, "solver")

    _cublasDestroy_v2 = _cusolverDnDestroy = _gone

    def _cublasSetStream_v2(self, handle, stream):
        assert stream in self.driver.streams
        self.streams[handle] = stream

    _cusolverDnSetStream = _cublasSetStream_v2

    def _trsm(self, letter, handle, side, uplo, operation, unit, m, n, alpha, a, lda, b, ldb):
        assert self.alive[handle] == "blas" and side in (0, 1) and uplo in (0, 1) and unit in (0, 1)
        dtype = LETTERS[letter]
        order = m if side == 0 else n

        def solve():
            matrix, target = (
                self.matrix(a, dtype, order, order, lda),
                self.matrix(b, dtype, m, n, ldb),
            )
            full = np.tril(matrix) if uplo == 0 else np.triu(matrix)
            if unit:
                np.fill_diagonal(full, 1)
            full = [full, full.T, full.conj().T][operation]
            # Side right: x op(A) = B, so op(A)^T x^T = B^T.
            target[:] = (
                np.linalg.solve(full, target) if side == 0 else np.linalg.solve(full.T, target.T).T
            )

        size = np.dtype(dtype).itemsize
        self.driver._do(
            self.streams[handle], solve, "trsm", [(a, order * lda * size)], [(b, n * ldb * size)]
        )

    def _potrf_bufferSize(self, letter, handle, uplo, n, a, lda, elements):
        assert self.alive[handle] == "solver"
        elements.value = 3 * n

    def _potrf(self, letter, handle, uplo, n, a, lda, space, elements, status):
        assert self.alive[handle] == "solver" and elements == 3 * n
        dtype = LETTERS[letter]

        def factor():
            matrix = self.matrix(a, dtype, n, n, lda)
            full = (
                np.tril(matrix) + np.tril(matrix, -1).conj().T
                if uplo == 0
                else np.triu(matrix) + np.triu(matrix, 1).conj().T
            )
            failed = 0
            try:
                lower = np.linalg.cholesky(full.astype(np.complex128))
                keep = (
                    np.tril(np.ones((n, n), bool)) if uplo == 0 else np.triu(np.ones((n, n), bool))
                )
                value = lower if uplo == 0 else lower.conj().T
                value = value if letter in "CZ" else value.real
                matrix[keep] = value.astype(dtype)[keep]
            except np.linalg.LinAlgError:
                failed = 2
            self.driver.memory.write(status, np.array([failed], np.int32).view(np.uint8))

        size = np.dtype(dtype).itemsize
        self.driver._do(
            self.streams[handle],
            factor,
            "potrf",
            [],
            [(a, n * n * size), (space, elements * size), (status, 4)],
        )

    def _scal(self, letter, handle, n, factor, x, step):
        assert self.alive[handle] == "blas" and step == 1
        dtype = LETTERS[letter]

        def scale():
            values = self.matrix(x, dtype, n, 1, n)
            values[:] = values * factor.value

        self.driver._do(
            self.streams[handle], scale, "scal", [], [(x, n * np.dtype(dtype).itemsize)]
        )

    # -- cuFFT
    def _cufftCreate(self, target):
        self._new(target, {})

    _cufftDestroy = _gone

    def _cufftSetStream(self, plan, stream):
        assert stream in self.driver.streams
        self.alive[plan]["stream"] = stream

    def _cufftMakePlanMany(
        self,
        plan,
        rank,
        n,
        before,
        step_in,
        distance_in,
        after,
        step_out,
        distance_out,
        kind,
        batch,
        work,
    ):
        assert len(n) == len(before) == len(after) == rank and step_in == step_out == 1
        self.alive[plan] |= {
            "n": list(n),
            "in": distance_in,
            "out": distance_out,
            "kind": kind,
            "batch": batch,
        }
        assert distance_in == np.prod(list(before)) and distance_out == np.prod(list(after))

    def _exec(self, kinds, plan, source, target, direction=-1):
        p = self.alive[plan]
        number, before, after = kinds
        assert p["kind"] == number
        axes = tuple(range(1, len(p["n"]) + 1))
        halved = [*p["n"][:-1], p["n"][-1] // 2 + 1]
        sizes = [
            p[k] * p["batch"] * np.dtype(d).itemsize for k, d in (("in", before), ("out", after))
        ]

        def transform():
            shape = [p["batch"], *(halved if number in (0x2C, 0x6C) else p["n"])]
            x = self.driver.memory.read(source, sizes[0]).view(before).reshape(shape)
            if number in (0x2A, 0x6A):
                y = np.fft.rfftn(x, axes=axes)
            elif number in (0x2C, 0x6C):
                y = np.fft.irfftn(x, p["n"], axes) * np.prod(p["n"])
                self.driver.memory.write(source, np.full(sizes[0], 255, np.uint8))  # as cuFFT may
            else:
                y = (
                    np.fft.fftn(x, axes=axes)
                    if direction == -1
                    else np.fft.ifftn(x, axes=axes) * np.prod(p["n"])
                )
            self.driver.memory.write(
                target, np.ascontiguousarray(y.astype(after)).reshape(-1).view(np.uint8)
            )

        self.driver._do(p["stream"], transform, "fft", [(source, sizes[0])], [(target, sizes[1])])


def _bound(method, first):
    return lambda self, *arguments: getattr(self, method)(first, *arguments)


for _letter in LETTERS:
    setattr(FakeLibraries, f"_cublas{_letter}trsm_v2", _bound("_trsm", _letter))
    setattr(
        FakeLibraries, f"_cusolverDn{_letter}potrf_bufferSize", _bound("_potrf_bufferSize", _letter)
    )
    setattr(FakeLibraries, f"_cusolverDn{_letter}potrf", _bound("_potrf", _letter))
for _name, _letter in (("Sscal", "S"), ("Dscal", "D"), ("Csscal", "C"), ("Zdscal", "Z")):
    setattr(FakeLibraries, f"_cublas{_name}_v2", _bound("_scal", _letter))
for _name, _kinds in {
    "C2C": (0x29, np.complex64, np.complex64), "R2C": (0x2A, np.float32, np.complex64), "C2R": (0x2C, np.complex64, np.float32),
    "Z2Z": (0x69, np.complex128, np.complex128), "D2Z": (0x6A, np.float64, np.complex128), "Z2D": (0x6C, np.complex128, np.float64),
}.items():  # fmt: skip
    setattr(FakeLibraries, f"_cufftExec{_name}", _bound("_exec", _kinds))
