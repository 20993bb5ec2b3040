"""Trials to responses: one person, one session."""
