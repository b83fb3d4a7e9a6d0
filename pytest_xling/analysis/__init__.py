"""What stored runs say beyond their verdicts: baselines, comparison, sizing, tuning."""
