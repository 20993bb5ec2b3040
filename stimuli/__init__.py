"""Scenes and masks to trials: what people and models are shown."""
