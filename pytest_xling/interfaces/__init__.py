"""What a metric, an annotator, a provider and a dataset reader must offer."""
