"""The files themselves and their code book; no code. A package, so that they are installed."""
