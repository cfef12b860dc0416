"""Other worlds to HloModule: jax, stablehlo, folders of XLA dumps. Nothing here yet."""
