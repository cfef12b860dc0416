"""What somebody has solved: progress in this process, and grades of notebooks that are run in a process of their own."""
