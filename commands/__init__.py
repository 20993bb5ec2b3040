"""The command line's groups: parse, load, call, save. Heavy imports are inside the commands."""
