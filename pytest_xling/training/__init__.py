"""How ``xling train`` makes weights: one trainer, and what each annotator learns from."""
