"""Models in Hugging Face's formats: where they are, on which device they run, in which batches."""
