"""People look at answers of a run: what they are shown, what they say, how it is counted."""
