"""Time and traffic of work on a target, for estimates."""
