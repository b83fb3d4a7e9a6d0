"""Train the classifier of stances that is shipped: labelled pairs, examples, fitting."""
