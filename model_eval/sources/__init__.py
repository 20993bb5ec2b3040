"""Where models come from, a module per source; `find.py` chooses by name. Light: no torch here."""
