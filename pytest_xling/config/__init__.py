"""What a run is told: options, the environment, ini files and thresholds.yaml."""
