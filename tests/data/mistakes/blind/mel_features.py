"""Loudness features of recordings: windowed frames, bands, levels."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

FRAMES, SAMPLES, BANDS = 1024, 512, 64
LEVELS = np.linspace(0.5, 2.0, SAMPLES)
NOISE = np.random.default_rng(6).standard_normal((FRAMES, SAMPLES)).astype(np.float32)


def remove_noise(frames):
    return frames - 0.02 * jnp.asarray(NOISE)


def band_edges():
    return np.arange(BANDS + 1) * (SAMPLES // BANDS)


@jax.jit
def features(frames, gain):
    clean = remove_noise(frames)
    loud = jnp.log1p(jnp.abs(clean * LEVELS))
    bands = loud.reshape(FRAMES, BANDS, -1).sum(-1)
    contrast = jnp.abs(frames * gain).reshape(8, FRAMES // 8, SAMPLES)
    by_time = jnp.sqrt(contrast).swapaxes(1, 2).reshape(-1)
    return bands, by_time + 0.5


def arguments():
    rng = np.random.default_rng(7)
    frames = rng.standard_normal((FRAMES, SAMPLES)).astype(np.float32)
    return frames, np.float32(0.8)


if __name__ == "__main__":
    bands, by_time = features(*arguments())
    print(bands.shape, bands.dtype, by_time.shape)
