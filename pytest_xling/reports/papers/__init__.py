"""The papers' own tables and figures from a run."""
