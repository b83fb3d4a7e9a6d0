"""Trustworthy cross-lingual release gates for language models, as a pytest plugin."""
