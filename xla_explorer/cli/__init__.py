"""`xla-explorer ...`: the same things without a notebook."""
