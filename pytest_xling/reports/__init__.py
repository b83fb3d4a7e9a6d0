"""Reports: what a run shows people, as text and as the paper's tables."""
