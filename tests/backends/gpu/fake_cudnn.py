"""cuDNN's convolutions with numpy on the fake driver's memory; descriptors are checked.

Numbers are those of cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h.
"""

from __future__ import annotations

import ctypes
import itertools

import ml_dtypes
import numpy as np

DATA = {0: np.float32, 1: np.float64, 2: np.float16, 9: ml_dtypes.bfloat16}
FORWARD, BACKWARD_DATA, BACKWARD_FILTER = (
    1,
    2,
    3,
)  # algorithms that this library answers with, one for each kind
WORKSPACE = 4096


def _list(values, count):
    assert len(values) == count
    return [int(x) for x in values]


class FakeCudnn:
    """To be mixed into `FakeLibraries`."""

    def _cudnnCreate(self, target):
        self._new(target, "dnn")

    def _cudnnDestroy(self, handle):
        self._gone(handle)

    def _cudnnSetStream(self, handle, stream):
        assert self.alive[handle] == "dnn" and stream in self.driver.streams
        self.streams[handle] = stream

    def _cudnnCreateTensorDescriptor(self, target):
        self._new(target, {"what": "tensor"})

    def _cudnnCreateFilterDescriptor(self, target):
        self._new(target, {"what": "filter"})

    def _cudnnCreateConvolutionDescriptor(self, target):
        self._new(target, {"what": "convolution", "groups": 1, "math": 0})

    _cudnnDestroyTensorDescriptor = _cudnnDestroyFilterDescriptor = (
        _cudnnDestroyConvolutionDescriptor
    ) = _cudnnDestroy

    def _described(self, descriptor, what):
        found = self.alive[descriptor]
        assert found["what"] == what
        return found

    def _cudnnSetTensorNdDescriptor(self, descriptor, kind, count, extents, strides):
        assert 4 <= count <= 8
        extents, strides = _list(extents, count), _list(strides, count)
        assert min(extents) > 0 and min(strides) > 0
        self._described(descriptor, "tensor").update(
            type=DATA[kind], extents=extents, strides=strides
        )

    def _cudnnSetFilterNdDescriptor(self, descriptor, kind, form, count, extents):
        assert 4 <= count <= 8 and form in (0, 1)
        extents = _list(extents, count)
        order = [0, 1, *range(2, count)] if form == 0 else [0, *range(2, count), 1]
        strides = [0] * count
        step = 1
        for d in reversed(order):
            strides[d] = step
            step *= extents[d]
        self._described(descriptor, "filter").update(
            type=DATA[kind], extents=extents, strides=strides
        )

    def _cudnnSetConvolutionNdDescriptor(
        self, descriptor, count, padding, stride, dilation, mode, compute
    ):
        assert mode == 1 and count in (2, 3)  # a cross-correlation
        padding, stride, dilation = (_list(x, count) for x in (padding, stride, dilation))
        assert min(padding) >= 0 and min(stride) > 0 and min(dilation) > 0
        self._described(descriptor, "convolution").update(
            padding=padding, stride=stride, dilation=dilation, compute=DATA[compute]
        )

    def _cudnnSetConvolutionMathType(self, descriptor, math):
        assert math in (0, 1, 2, 3)
        self._described(descriptor, "convolution")["math"] = math

    def _cudnnSetConvolutionGroupCount(self, descriptor, groups):
        self._described(descriptor, "convolution")["groups"] = groups

    def _answer(self, algorithm, handle, wanted, found, results):
        """Return a plan that fails, then one with too large a workspace, then a usable one."""
        assert (
            self.alive[handle] == "dnn"
            and wanted == len(results) == 8
            and ctypes.sizeof(results[0]) == 48
        )
        for number, (status, memory) in enumerate([(3000, 0), (0, 1 << 40), (0, WORKSPACE)]):
            one = results[number]
            one.algorithm, one.status, one.memory, one.math_type = algorithm, status, memory, 0
        found.value = 3

    def _check(self, x, w, convolution, y):
        x, y = (self._described(d, "tensor") for d in (x, y))
        w, convolution = self._described(w, "filter"), self._described(convolution, "convolution")
        assert x["type"] == w["type"] == y["type"] and len(x["extents"]) == len(
            w["extents"]
        ) == len(y["extents"])
        groups = convolution["groups"]
        assert (
            x["extents"][1] == w["extents"][1] * groups
            and y["extents"][1] == w["extents"][0]
            and w["extents"][0] % groups == 0
        )
        assert x["extents"][0] == y["extents"][0]
        for d, (p, s, spread) in enumerate(
            zip(*(convolution[k] for k in ("padding", "stride", "dilation")), strict=True), 2
        ):
            places = (x["extents"][d] + 2 * p - ((w["extents"][d] - 1) * spread + 1)) // s + 1
            assert places == y["extents"][d], (
                "the result that cudnnGetConvolutionNdForwardOutputDim would say"
            )
        return x, w, convolution, y

    def _cudnnGetConvolutionForwardAlgorithm_v7(
        self, handle, x, w, convolution, y, wanted, found, results
    ):
        self._check(x, w, convolution, y)
        self._answer(FORWARD, handle, wanted, found, results)

    def _cudnnGetConvolutionBackwardDataAlgorithm_v7(
        self, handle, w, dy, convolution, dx, wanted, found, results
    ):
        self._check(dx, w, convolution, dy)
        self._answer(BACKWARD_DATA, handle, wanted, found, results)

    def _cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        self, handle, x, dy, convolution, dw, wanted, found, results
    ):
        self._check(x, dw, convolution, dy)
        self._answer(BACKWARD_FILTER, handle, wanted, found, results)

    def _bytes(self, d):
        return (
            sum((n - 1) * s for n, s in zip(d["extents"], d["strides"], strict=True)) + 1
        ) * np.dtype(d["type"]).itemsize

    def _array(self, address, d):
        flat = self.driver.memory.read(address, self._bytes(d)).view(d["type"])
        size = flat.dtype.itemsize
        return np.lib.stride_tricks.as_strided(flat, d["extents"], [size * s for s in d["strides"]])

    def _convolve(self, name, handle, scales, given, target, convolution, space, size, compute):
        assert size == WORKSPACE and [s.value for s in scales] == [1, 0]
        kind = {np.float64: ctypes.c_double}.get(target[1]["type"], ctypes.c_float)
        assert all(isinstance(s, kind) for s in scales)

        def work():
            arrays = [self._array(address, d).astype(np.float64) for address, d in given]
            value = compute(*arrays)
            self._array(*target)[...] = value.astype(target[1]["type"])
            octets = self._bytes(target[1])
            self.driver.memory.write(target[0], self.driver.memory.read(target[0], octets).copy())

        reads = [(address, self._bytes(d)) for address, d in given]
        self.driver._do(
            self.streams[handle],
            work,
            name,
            reads,
            [(target[0], self._bytes(target[1])), (space, size)],
        )

    def _taps(self, x, w, convolution, y, action):
        """action(part of the padded image, index of the tap's weights) for each tap and group."""
        pads = [(0, 0), (0, 0), *[(p, p) for p in convolution["padding"]]]
        padded = np.pad(x, pads)
        inputs, outputs, groups = (
            w["extents"][1],
            w["extents"][0] // convolution["groups"],
            convolution["groups"],
        )
        for tap in itertools.product(*[range(n) for n in w["extents"][2:]]):
            where = []
            for t, s, spread, n in zip(
                tap, convolution["stride"], convolution["dilation"], y["extents"][2:], strict=True
            ):
                where.append(slice(t * spread, t * spread + (n - 1) * s + 1, s))
            for g in range(groups):
                action(
                    padded,
                    (slice(None), slice(g * inputs, (g + 1) * inputs), *where),
                    slice(g * outputs, (g + 1) * outputs),
                    tap,
                )
        return padded

    def _cudnnConvolutionForward(
        self, handle, alpha, x, x_at, w, w_at, convolution, algorithm, space, size, beta, y, y_at
    ):
        assert algorithm == FORWARD
        x, w, convolution, y = self._check(x, w, convolution, y)

        def compute(image, kernel):
            total = np.zeros(y["extents"])

            def add(padded, where, outputs, tap):
                total[:, outputs] += np.einsum(
                    "nc...,kc->nk...", padded[where], kernel[(outputs, slice(None), *tap)]
                )

            self._taps(image, w, convolution, y, add)
            return total

        self._convolve(
            "cudnnConvolutionForward",
            handle,
            (alpha, beta),
            [(x_at, x), (w_at, w)],
            (y_at, y),
            convolution,
            space,
            size,
            compute,
        )

    def _cudnnConvolutionBackwardData(
        self,
        handle,
        alpha,
        w,
        w_at,
        dy,
        dy_at,
        convolution,
        algorithm,
        space,
        size,
        beta,
        dx,
        dx_at,
    ):
        assert algorithm == BACKWARD_DATA
        dx, w, convolution, dy = self._check(dx, w, convolution, dy)

        def compute(kernel, derivative):
            def add(padded, where, outputs, tap):
                padded[where] += np.einsum(
                    "nk...,kc->nc...", derivative[:, outputs], kernel[(outputs, slice(None), *tap)]
                )

            padded = self._taps(np.zeros(dx["extents"]), w, convolution, dy, add)
            return padded[
                (
                    slice(None),
                    slice(None),
                    *[
                        slice(p, p + n)
                        for p, n in zip(convolution["padding"], dx["extents"][2:], strict=True)
                    ],
                )
            ]

        name = "cudnnConvolutionBackwardData"
        self._convolve(
            name,
            handle,
            (alpha, beta),
            [(w_at, w), (dy_at, dy)],
            (dx_at, dx),
            convolution,
            space,
            size,
            compute,
        )

    def _cudnnConvolutionBackwardFilter(
        self,
        handle,
        alpha,
        x,
        x_at,
        dy,
        dy_at,
        convolution,
        algorithm,
        space,
        size,
        beta,
        dw,
        dw_at,
    ):
        assert algorithm == BACKWARD_FILTER
        x, dw, convolution, dy = self._check(x, dw, convolution, dy)

        def compute(image, derivative):
            total = np.zeros(dw["extents"])

            def add(padded, where, outputs, tap):
                seen, made = (
                    a.reshape(*a.shape[:2], -1) for a in (padded[where], derivative[:, outputs])
                )
                total[(outputs, slice(None), *tap)] += np.einsum("ncp,nkp->kc", seen, made)

            self._taps(image, dw, convolution, dy, add)
            return total

        name = "cudnnConvolutionBackwardFilter"
        self._convolve(
            name,
            handle,
            (alpha, beta),
            [(x_at, x), (dy_at, dy)],
            (dw_at, dw),
            convolution,
            space,
            size,
            compute,
        )
