"""Ten numeric programs with planted mistakes, written down before any question was put to them."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import Final

import numpy as np

from tests.performance.mistakes.planted import Mistake, Planted, Program, indices, normal


def rotations(mended):
    """Return points turned by many small rotations, coordinates first."""
    import jax.numpy as jnp

    scale = np.linspace(0.5, 1.5, 4096)
    factors = scale.astype(np.float32) if "wide" in mended else scale

    def turn(rotation, points, field):
        if "small-products" in mended:
            turned = (rotation[:, :, :, None] * points[:, None]).sum(2)
        else:
            turned = jnp.einsum("nij,njk->nik", rotation, points)
        if "reshape" in mended:
            flat = jnp.exp(field).reshape(-1)
        else:
            flat = jnp.exp(field).swapaxes(1, 2).reshape(-1)
        waves = jnp.exp(factors[:, None] * field.reshape(4096, -1))
        return flat * 0.5, turned, waves

    return Program(turn, (normal(4096, 4, 4), normal(4096, 4, 4), normal(32, 128, 128)))


def kalman(mended):
    """Return twenty steps of many small filters, with a report to the host."""
    import jax
    import jax.numpy as jnp

    def product(a, b):
        if "small-products" in mended:
            return (a[:, :, :, None] * b[:, None]).sum(2)
        return jnp.matmul(a, b)

    def predict(state, motion, gain):
        return product(motion, state) * gain + state * 0.1, None

    def filtered(state, motion):
        if "unrolled" in mended:
            gains = 0.5 - jnp.arange(20) / 80
            state, _ = jax.lax.scan(lambda s, gain: predict(s, motion, gain), state, gains)
        else:
            for k in range(20):
                state = product(motion, state) * (0.5 - k / 80) + state * 0.1
        if "host" not in mended:
            state = jax.pure_callback(
                lambda s: -np.asarray(s), jax.ShapeDtypeStruct(state.shape, state.dtype), state
            )
        else:
            state = -state
        return state

    return Program(filtered, (normal(512, 4, 4), normal(512, 4, 4)))


def spectra(mended):
    """Return a weighted spectrum; the weights are captured in 64 bits."""
    import jax.numpy as jnp

    window = np.hanning(1 << 18).astype(np.float32)
    bands = np.geomspace(1.0, 2.0, 1024)
    gains = bands.astype(np.float32) if "wide" in mended else bands

    def spectrum(signal, *given):
        taper = given[0] if given else jnp.asarray(window)
        power = signal * taper
        if "reshape" in mended:
            rows = jnp.abs(power).reshape(-1)
        else:
            rows = jnp.abs(power).reshape(256, 1024).T.reshape(-1)
        bent = jnp.log1p(jnp.abs(power.reshape(-1, 1024) * gains))
        return rows * 2.0, bent

    signal = normal(1 << 18)
    return Program(spectrum, (signal, window) if "captured" in mended else (signal,))


def robot_arm(mended):
    """Return the pose of many arms of sixteen joints."""
    import jax
    import jax.numpy as jnp

    def pose(start, joints, stiffness):
        def reach(at, joint):
            if "small-products" in mended:
                moved = (joint[:, :, :, None] * at[:, None]).sum(2)
            else:
                moved = jnp.einsum("nij,njk->nik", joint, at)
            return jnp.tanh(moved), None

        if "unrolled" in mended:
            start, _ = jax.lax.scan(reach, start, joints)
        else:
            for k in range(16):
                start = reach(start, joints[k])[0]
        return start * stiffness

    start, joints = normal(2048, 4, 4), normal(16, 2048, 4, 4)
    given = [np.ones((), np.float32), 0.5, np.ones((), np.float16)]
    kept = [np.asarray(one, np.float32) for one in given]
    calls = [(start, joints, one) for one in (kept if "recompilation" in mended else given)]
    return Program(pose, calls[0], tuple(calls))


def lookup(mended):
    """Return interpolated values of a captured table, which a Python function checks."""
    import jax
    import jax.numpy as jnp

    grid = normal(192, 30_000)
    by_row = grid.T.copy()

    def values(index, weight, *given):
        table = given[0] if given else jnp.asarray(by_row if "gather" in mended else grid)
        near = table[index] if "gather" in mended else table[:, index].T
        result = near * weight[:, None]
        if "host" not in mended:
            jax.debug.callback(lambda rows: None, result)
        return result

    arrays = (indices(30_000, 8192), normal(8192))
    table = by_row if "gather" in mended else grid
    return Program(values, (*arrays, table) if "captured" in mended else arrays)


def optimiser(mended):
    """Return a step of Adam; its counter is a Python number."""
    import jax.numpy as jnp

    betas = np.asarray([0.9, 0.99], np.float32) if "wide" in mended else np.asarray([0.9, 0.99])

    def step(p, m, v, g, count):
        m = (betas[0] * m + (1 - betas[0]) * g).astype(jnp.float32)
        v = (betas[1] * v + (1 - betas[1]) * g * g).astype(jnp.float32)
        size = 1e-3 / (1 - 0.9 ** (count + 1.0))
        new = p - size * m / (jnp.sqrt(v) + 1e-8)
        return new.astype(jnp.float32), m, v

    arrays = [abs(normal(1 << 19)) for _ in range(4)]
    static = () if "recompilation" in mended else (4,)
    donated = (0, 1, 2) if "donation" in mended else ()
    counts = [np.float32(k) if "recompilation" in mended else k for k in range(3)]
    calls = tuple([(*arrays, count) for count in counts])
    return Program(step, calls[0], calls, static, donated)


def cloth(mended):
    """Return a step of a cloth of many nodes, in 64 bits because of a table."""
    import jax.numpy as jnp

    rest = np.full(1 << 18, 0.25)
    length = rest.astype(np.float32) if "wide" in mended else rest

    def step(age, load, position, velocity, frame):
        if "small-products" in mended:
            force = (frame[:, :, :, None] * position[:, None]).sum(2)
        else:
            force = frame @ position
        stretch = jnp.exp(load * length)
        return age * 0.99 + 1.0, (velocity - 0.1 * force).sum(1), stretch.reshape(-1, 16).sum(1)

    donated = (0,) if "donation" in mended else ()
    arrays = (normal(1 << 18), normal(1 << 18), *[normal(16_384, 4, 4) for _ in range(3)])
    return Program(step, arrays, donated=donated)


def sampler(mended):
    """Return drawn classes as rows of ones and zeros, and a flattened grid."""
    import jax
    import jax.numpy as jnp

    def draw(drawn, grid, classes):
        count = drawn.shape[0]
        if "one-hot" in mended:
            rows = jax.nn.one_hot(drawn, 256)
        else:
            rows = jnp.zeros((count, 256)).at[jnp.arange(count), drawn].set(1.0)
        if "reshape" in mended:
            flat = jnp.exp(grid).reshape(-1)
        else:
            flat = jnp.exp(grid).swapaxes(1, 2).reshape(-1)
        return rows / classes, flat + 1.0

    grid = normal(16, 128, 128)
    static = () if "recompilation" in mended else (2,)
    counts = [np.float32(k) if "recompilation" in mended else k for k in (2, 3, 4)]
    calls = tuple([(indices(256, 8192), grid, count) for count in counts])
    return Program(draw, calls[0], calls, static)


def cells(mended):
    """Return momenta of cells, gathered features first, with small collision matrices."""
    import jax
    import jax.numpy as jnp

    def momenta(field, cell, collide):
        values = field[cell] if "gather" in mended else field[:, cell].T
        near = values.reshape(-1, 5, 4)[: collide.shape[0]]
        if "small-products" in mended:
            after = (collide[:, :, :, None] * near[:, None]).sum(2)
        else:
            after = jax.vmap(jnp.dot)(collide, near)
        if "host" not in mended:
            jax.debug.callback(lambda *seen: None, after, values)
        return after, values * 2.0

    field = normal(20, 200_000)
    given = field.T.copy() if "gather" in mended else field
    return Program(momenta, (given, indices(200_000, 16_384), normal(2048, 5, 5)))


def monte_carlo(mended):
    """Return the price of options on captured paths, a strike at a time."""
    import jax.numpy as jnp

    paths = normal(1 << 19)
    rates = np.linspace(0.01, 0.02, 8)
    yearly = rates.astype(np.float32) if "wide" in mended else rates

    def price(spot, strike, *given):
        drawn = given[0] if given else jnp.asarray(paths)
        growth = jnp.exp(drawn.reshape(-1, 8) * 0.2 + yearly)
        return jnp.maximum(spot * growth - strike, 0.0)

    static = () if "recompilation" in mended else (1,)
    strikes = [np.float32(k) if "recompilation" in mended else float(k) for k in (95, 100, 105)]
    more = (paths,) if "captured" in mended else ()
    calls = tuple([(np.float32(100), strike, *more) for strike in strikes])
    return Program(price, calls[0], calls, static)


NUMERICS: Final = {
    "rotations": Planted(rotations, (
        Mistake("small-products", 'jnp.einsum("nij,njk->nik", rotation'),
        Mistake("reshape", "swapaxes(1, 2)"),
        Mistake("wide", "jnp.exp(factors"),
    ), is_wide=True),
    "kalman": Planted(kalman, (
        Mistake("small-products", "return jnp.matmul(a, b)"),
        Mistake("unrolled", "state = product(motion, state)"),
        Mistake("host", "jax.pure_callback"),
    )),
    "spectra": Planted(spectra, (
        Mistake("reshape", "reshape(256, 1024).T"),
        Mistake("wide", "* gains"),
        Mistake("captured", "jnp.asarray(window)"),
    ), is_wide=True),
    "robot_arm": Planted(robot_arm, (
        Mistake("small-products", 'moved = jnp.einsum("nij'),
        Mistake("unrolled", "reach(start, joints[k])"),
        Mistake("recompilation", "argument args[2]"),
    )),
    "lookup": Planted(lookup, (
        Mistake("gather", "table[:, index].T"),
        Mistake("captured", "jnp.asarray(by_row"),
        Mistake("host", "jax.debug.callback"),
    )),
    "optimiser": Planted(optimiser, (
        Mistake("donation", "argument p"),
        Mistake("wide", "m = (betas[0]"),
        Mistake("recompilation", "argument args[4]"),
    ), is_wide=True),
    "cloth": Planted(cloth, (
        Mistake("small-products", "force = frame @ position"),
        Mistake("wide", "load * length"),
        Mistake("donation", "argument age"),
    ), is_wide=True),
    "sampler": Planted(sampler, (
        Mistake("one-hot", "rows = jnp.zeros"),
        Mistake("recompilation", "argument args[2]"),
        Mistake("reshape", "swapaxes(1, 2)"),
    )),
    "cells": Planted(cells, (
        Mistake("gather", "field[:, cell].T"),
        Mistake("small-products", "jax.vmap(jnp.dot)"),
        Mistake("host", "jax.debug.callback"),
    )),
    "monte_carlo": Planted(monte_carlo, (
        Mistake("wide", "* 0.2 + yearly"),
        Mistake("recompilation", "argument args[1]"),
        Mistake("captured", "jnp.asarray(paths)"),
    ), is_wide=True),
}  # fmt: skip
