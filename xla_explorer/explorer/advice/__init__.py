"""Advice on slow programs: rules from kernels to a change with a bound of its gain.

Start reading at `session_advice.py`; a rule is a function of `Facts` in one of the other files.
"""
