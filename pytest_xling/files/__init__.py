"""Files: written whole or not at all, read with line numbers, kept in the user's cache."""
