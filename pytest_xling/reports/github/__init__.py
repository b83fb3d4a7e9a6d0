"""What GitHub Actions shows of a run: a summary of the step, and annotations."""
