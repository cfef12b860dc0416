"""Other representations to `HloModule`.

Start reading at `stablehlo/__init__.py`.
"""
