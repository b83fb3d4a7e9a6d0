"""Ask a model to judge a text, so that nothing but its own verdict counts."""
