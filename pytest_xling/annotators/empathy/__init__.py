"""Who tells by which mechanisms a response expresses empathy: one package per way."""
