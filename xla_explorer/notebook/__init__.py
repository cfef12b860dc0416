"""Jupyter: magics, completion, rich display, the widget.

Start reading at `magics.py`.
"""
