"""Six programs as users of JAX's libraries write them, for `xe.xla.why_slow`; each module has `make() -> (function, arguments)`.

They were written down before any rule of `explorer/xla/advice.py` that is measured on them, in the manner of each library's documentation,
and are not tuned. The libraries are no dependency of the tests: `pip install optax flax equinox dm-haiku numpyro diffrax`.
"""
