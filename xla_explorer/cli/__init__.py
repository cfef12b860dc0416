"""The command line: `xla-explorer ...`.

Start reading at `main.py`.
"""
