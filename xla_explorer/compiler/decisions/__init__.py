"""The kinds of decision and every reason code, a table per kind."""
