"""The plugin's native code: what JAX calls often, or while Python must not be entered, on the records of `records.py`."""
