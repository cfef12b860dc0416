"""Six programs as users of JAX's libraries write them, for `xe.xla.why_slow`; each module has `make() -> (function, arguments)`.

They were written down before any rule of `explorer/xla/advice.py` that is measured on them, in the manner of each library's documentation,
and are not tuned. The libraries are no dependency of the tests: `pip install optax flax equinox dm-haiku numpyro diffrax`.

What `why_slow` proposes and what it gave, XLA:CPU of jaxlib 0.10.2 on two shared cores, variants in turns, median of the rounds' ratios:

| program | proposed | time after : before |
|---|---|---|
| gpt_training | flatten the leading dimensions before products with weights | 0.83 |
| unet_training | --xla_cpu_experimental_ynn_fusion_type= | 0.72 |
| nuts_step | --xla_backend_extra_options=xla_cpu_small_while_loop_byte_threshold=10000000 | 0.74 |
| diffrax_gradient | the same | 0.89 |
| resnet_training | --xla_cpu_experimental_ynn_fusion_type= | 0.97 |
| vit_inference | nothing (four flags tried: 0.96 to 1.01) | |

The same by `proposed_changes.py` on 2026-11-23, with eight other jobs on the machine: gpt_training 0.88, unet_training 0.74, nuts_step 0.65,
diffrax_gradient 0.86.

Since a program that takes long is timed once a round, the page of resnet_training takes 43 to 50 s on that machine, with eight other jobs on it.

The five longest kernels of the page against `jax.profiler.ProfileData` (`against_jax_profiler.py`, 2026-11-23, the same machine, with jobs of
eight others on it: load 13 to 21): of the same recording the same five with the same times (0.00 %) in all six programs, 100 % joined, 100 % with
lines. Beside a recording of `jax.jit` in another process, in turns, page : apart, median of the five (nuts_step 0.99, gpt_training 1.06,
vit_inference 1.05, unet_training 1.13; single kernels 0.88 to 1.45 at that load, and three far apart, whose names XLA may have dealt otherwise).
Seconds of a page: elapsed at that load, and of all processors together.

| program | elapsed | processors |
|---|---|---|
| gpt_training | 108 | 19 |
| resnet_training (before runs were bounded) | 202 | 57 |
| unet_training | 102 | 32 |
| vit_inference | 47 | 7 |
| nuts_step | 54 | 8 |
"""
