"""Responses to the human table and ceilings; readouts and people to scores, figures, a board."""
