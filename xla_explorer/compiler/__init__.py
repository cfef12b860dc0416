"""HLO to optimised HLO to buffers to LLVM IR, for any device.

A backend reads this package, never the reverse. Start reading at `pipeline/runner.py`.
"""
