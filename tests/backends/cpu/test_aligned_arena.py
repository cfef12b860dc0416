"""Aligned memory: alignment, reuse, and above all no reuse while anybody looks."""

import gc
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

from xla_explorer.backends.cpu.aligned_arena import Arena, OutputPool, size_class

BIG = (1 << 20,)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 513, 4097, 100_000, (1 << 20) + 1, 10_000_001])
def test_size_classes(size):
    found = size_class(size)
    assert found >= size and found % 64 == 0
    assert found <= max(64, size * 1.13 + 64)
    assert size_class(found) == found


@pytest.mark.parametrize("size", [1, 100, 5000, 70_000, 3 << 20])
def test_arena_alignment_and_reuse(size):
    arena = Arena()
    with arena.take(size) as buffer:
        assert buffer.size >= size
        assert buffer.address % (2 << 20 if size >= 1 << 20 else 64) == 0
        buffer.view()[:] = 7
        assert buffer.view("f4").ctypes.data == buffer.address
        first = buffer.address
    with arena.take(size) as buffer:
        assert buffer.address == first
    assert arena.idle_bytes == size_class(size)


def test_arena_is_bounded_and_release_is_idempotent():
    arena = Arena(max_idle_bytes=100_000)
    buffers = [arena.take(60_000) for _ in range(3)]
    assert len({buffer.address for buffer in buffers}) == 3
    for buffer in buffers:
        buffer.release()
        buffer.release()
    assert arena.idle_bytes == buffers[0].size
    arena.trim()
    assert arena.idle_bytes == 0


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "bool", "c16", ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0,), (7, 0, 2), BIG])
def test_output_arrays(shape, dtype):
    pool = OutputPool()
    array, address = pool.array_with_address(shape, dtype)
    assert array.shape == shape and array.dtype == np.dtype(dtype)
    assert array.flags.c_contiguous and array.flags.writeable
    assert array.size == 0 or (array.ctypes.data == address and address % 64 == 0)
    array[...] = 1


def test_memory_comes_back_only_when_dropped():
    pool = OutputPool()
    first, address = pool.array_with_address((1000,), "f4")
    second, other = pool.array_with_address((1000,), "f4")
    assert address != other
    del first
    third, again = pool.array_with_address((1000,), "f4")
    assert again == address
    del second, third
    assert {pool.array_with_address((1000,), "f4")[1] for _ in range(10)} <= {address, other}


@pytest.mark.parametrize(
    "look",
    [
        lambda a: a[1:],
        lambda a: a[1:][::2].reshape(-1),
        lambda a: memoryview(a),
        lambda a: a.view("i4"),
        lambda a: np.asarray(a, copy=False).T,
        lambda a: a.__dlpack__(),
        lambda a: np.from_dlpack(a),
        lambda a: a.data.cast("B"),
        lambda a: iter(a.flat),
        lambda a: np.frombuffer(a, "u1"),
        lambda a: a.view(np.recarray),
        lambda a: a.ctypes,
        lambda a: a.base,
        lambda a: [a],
        lambda a: lambda: a,
    ],
    ids=lambda f: f.__code__.co_firstlineno,
)
@pytest.mark.sampled(5)
def test_any_look_keeps_the_memory(look):
    pool = OutputPool()
    array, address = pool.array_with_address((64,), "f4")
    held = look(array)
    del array
    others = [pool.array_with_address((64,), "f4") for _ in range(30)]
    assert address not in {other for _, other in others}
    del held
    gc.collect()
    more = [pool.array_with_address((64,), "f4") for _ in range(40)]
    assert address in {other for _, other in more}


def test_all_held_arrays_are_different_memory():
    pool = OutputPool()
    held = []
    for number in range(300):
        array = pool.array((50,), "i8")
        array[:] = number
        if number % 3:
            held.append((number, array))
        if number % 7 == 0 and held:
            held.pop(len(held) // 2)
    for number, array in held:
        assert (array == number).all()


def test_holding_many_does_not_make_the_pool_grow_with_every_call():
    pool = OutputPool()
    held = [pool.array((1000,), "f4") for _ in range(200)]
    before = pool.tracked_bytes
    for _ in range(500):
        pool.array((1000,), "f4")
    assert pool.tracked_bytes <= before + 8 * size_class(4000)
    assert len(held) == 200


def test_bounded():
    pool = OutputPool(max_bytes=100_000)
    held = [pool.array((10_000,), "u1") for _ in range(20)]
    assert pool.tracked_bytes <= 100_000
    for number, array in enumerate(held):
        array[:] = number
    assert all((array == number).all() for number, array in enumerate(held))
    del held, array
    large = pool.array((90_000,), "u1")  # idle small blocks make room
    assert pool.tracked_bytes <= 100_000
    watch = weakref.ref(large)
    del large
    assert watch() is None
    assert pool.idle_bytes > 0
    assert pool.trim() == 0 and pool.idle_bytes == 0


def test_threads_never_share():
    pool = OutputPool()
    problems = []

    def work(mark):
        slot = pool.slot((256,), "i8")
        kept = []
        for number in range(800):
            array, _ = slot.take()
            array[:] = mark * 10_000 + number
            kept.append((mark * 10_000 + number, array))
            if len(kept) > 3:
                value, old = kept.pop(0)
                if not (old == value).all():
                    problems.append(value)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
