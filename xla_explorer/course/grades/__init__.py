"""Progress in this process, and grades of notebooks in a child process."""
