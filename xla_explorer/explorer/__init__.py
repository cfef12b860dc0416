"""The objects that a user holds: session, trace, and their questions. No Jupyter.

Start reading at `session.py`.
"""
