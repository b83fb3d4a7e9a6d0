"""Dataset readers: one module or package per layout."""
