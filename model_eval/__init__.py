"""Model and trials to readouts: a model is one observer of the trials that people saw."""
