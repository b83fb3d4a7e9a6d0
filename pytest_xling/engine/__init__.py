"""The engine: everything that costs time or money, batched, kept and never done twice."""
