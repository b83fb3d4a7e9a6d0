"""What the classifier of empathy learns, and from what: ``xling train empathy``."""
