"""Native code of the plugin, on the records of `records.py`."""
