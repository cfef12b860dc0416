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

The five longest kernels of the page against `jax.profiler.ProfileData` (`against_jax_profiler.py`, 2026-11-23, the same machine with six other
jobs on it): of the same recording the same five with the same times (0.00 %) in all six programs; times by rank against a recording of `jax.jit`
in another process, page : own, median of the five:

| program | page, s | joined, with lines | page : own |
|---|---|---|---|
| gpt_training | 48 | 100 % | 0.99 |
| resnet_training | 111 | 100 % | 0.92 |
| unet_training | 53 | 100 % | 0.96 |
| vit_inference | 11 | 100 % | 0.88 |
| nuts_step | 13 | 100 % | 0.80 |
| diffrax_gradient | 42 | 100 % | 1.18 |
"""
