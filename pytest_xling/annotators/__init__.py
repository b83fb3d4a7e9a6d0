"""Annotators: what metrics need to know of a text, found once and kept."""
