"""Other worlds to HloModule: `jax_program` (JAX functions), `xla_dump` (what `--xla_dump_to` writes)."""
