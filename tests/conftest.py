"""How many examples Hypothesis draws."""

from __future__ import annotations

from hypothesis import settings

# Half of what Hypothesis tries by default; a machine that is busy is no failure.
settings.register_profile("half", max_examples=50, deadline=None)
settings.load_profile("half")
