"""Programs of users that are slow or wrong, five of each of ten kinds.

A function is a program; `ARGUMENTS` of a file has its arguments. The causes are in `causes.py`.
"""
