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

The page against `jax.profiler.ProfileData` (`against_jax_profiler.py`, 2026-11-23, two shared cores with other jobs on them: load 4 to 7, unet and
diffrax 13 to 20): of the same recording the same five longest kernels with the same times (0.00 %), 100 % joined, 100 % with lines, in all six. Beside
recordings of `jax.jit` in another process, in turns: page : apart of the five kernels by their names, and the median.

| program | page, s | of processors, s | page : apart | median |
|---|---|---|---|---|
| gpt_training | 26 | 21 | 0.75 1.72 1.00 1.02 1.08 | 1.02 |
| resnet_training | 53 | 41 | 0.95 0.97 0.99 0.96 0.92 | 0.96 |
| unet_training | 102 | 32 | 1.12 1.13 1.34 0.20 2.63 | 1.13 |
| vit_inference | 9 | 6 | 0.96 1.01 0.94 0.93 0.95 | 0.95 |
| nuts_step | 9 | 7 | 0.99 0.98 1.00 0.99 1.04 | 0.99 |
| diffrax_gradient | 75 | 22 | 0.76 0.83 1.03 1.00 0.99 | 0.99 |
"""
