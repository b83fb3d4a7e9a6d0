"""The store: every output of every step, and every run, in one SQLite file."""
