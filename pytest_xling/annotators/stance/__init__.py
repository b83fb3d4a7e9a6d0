"""Stances: whether an answer agrees with a claim, by three kinds of annotator (UPHILL, section 3.4)."""
