"""Scores to estimates to verdicts: pure, so that a stored run can be judged again."""
