"""Stances: whether an answer agrees with a claim, in three ways (UPHILL, section 3.4)."""
