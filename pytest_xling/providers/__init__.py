"""Providers: where answers come from."""
