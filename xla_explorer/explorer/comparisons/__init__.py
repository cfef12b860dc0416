"""Sessions, fusions, programs and backends side by side; sweeps and searches."""
