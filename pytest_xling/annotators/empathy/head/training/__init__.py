"""How the classifier of empathy is trained: ``xling train empathy``."""
