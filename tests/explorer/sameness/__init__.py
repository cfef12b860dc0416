"""Whether two programs are the same: tricks refused, right rewrites accepted."""
