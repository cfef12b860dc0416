"""Six programs of users of JAX's libraries, for `xe.xla.why_slow`.

Each module has `make() -> (function, arguments)`.

They were written down before any rule of `explorer/xla/advice.py` that is measured on them, in the
manner of each library's documentation, and are not tuned. The libraries are no dependency of the
tests: `pip install optax flax equinox dm-haiku numpyro diffrax`.

What `why_slow` proposes and what it gave, XLA:CPU of jaxlib 0.10.2 on two shared cores, variants in
turns, median of the rounds' ratios:

| program | proposed | time after : before |
|---|---|---|
| gpt_training | flatten the leading dimensions before products with weights | 0.83 |
| unet_training | --xla_cpu_experimental_ynn_fusion_type= | 0.72 |
| nuts_step | --xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=10000000 | 0.74 |
| diffrax_gradient | the same | 0.89 |
| resnet_training | --xla_cpu_experimental_ynn_fusion_type= | 0.97 |
| vit_inference | nothing (four flags tried: 0.96 to 1.01) | |

The same by `proposed_changes.py` on 2026-11-23, with eight other jobs on the machine: gpt_training
0.88, unet_training 0.74, nuts_step 0.65, diffrax_gradient 0.86.

The page against `jax.profiler.ProfileData` (`against_jax_profiler.py`, 2026-11-23, two shared cores
with twelve to twenty other jobs on them): of the same recording the same five longest kernels with
the same times (0.00 %), 100 % joined, 100 % with lines. Beside recordings of `jax.jit` in another
process, eleven in turns, page : apart: of the five kernels in order, the median of the turns,
behind it half of its range.

| program | page, s | of processors, s | page : apart |
|---|---|---|---|
| gpt_training | 97 | 23 | 1.17±0.61 1.02±0.27 1.11±0.23 0.92±0.44 1.00±0.22 |
| unet_training | 142 | 36 | 1.10±0.28 1.37±0.67 0.77±0.55 0.86±0.71 0.98±0.30 |
| vit_inference | 24 | 8 | 1.09±1.58 1.10±3.60 0.82±1.95 4.81±3.81 3.22±5.70 |
| nuts_step | 50 | 9 | 0.99±0.11 0.97±0.23 1.03±0.21 1.04±0.20 1.04±0.28 |
| diffrax_gradient | 99 | 23 | 1.02±0.17 0.99±0.21 0.92±0.22 1.09±0.29 1.36±4.46 |

So on that machine the spread is larger than the difference in every program but nuts_step and
diffrax_gradient; with load 4 to 7 on the same day the median of the five kernels was 1.02
(gpt_training), 0.96 (resnet_training, 53 s, of processors 41 s) and 0.95 (vit_inference). Of a
page's processor time most is XLA's: `jax.jit` alone compiles unet_training in 21 s of processors,
and JAX traces diffrax_gradient in 7 s.
"""
