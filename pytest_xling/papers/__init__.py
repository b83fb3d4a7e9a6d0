"""The tables of papers, as recipes over the frames of a stored run: one module a paper."""
