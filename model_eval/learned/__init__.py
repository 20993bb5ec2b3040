"""Learned readouts of the two dots' tokens (methods 1.6). Light: torch is imported by the modules."""
