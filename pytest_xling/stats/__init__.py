"""Intervals for rates and means of answers that come in clusters; nothing here needs numpy."""
