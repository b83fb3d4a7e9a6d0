"""Work on plain text: clean it, show it, cut it into tokens and sentences, tell its language."""
