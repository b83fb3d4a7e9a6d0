"""What a metric, an annotator, a provider and an importer must offer."""
