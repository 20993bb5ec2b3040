"""Figures: functions of tables, one module each; no statistic is computed here."""
