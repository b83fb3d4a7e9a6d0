"""Models of natural language inference: does a text, the premise, entail another?"""
