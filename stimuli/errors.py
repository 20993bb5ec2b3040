"""The errors that a user, a file or a model can cause.

Each message says the value, what was expected, where (file, row, trial) and what to do. The command
line prints them without a traceback and ends with exit code 2; any other exception is a bug of ours
and keeps its traceback.
"""


class InputError(ValueError):
    """What was given can't be used; the message says what, where and what to do."""


class TableError(InputError):
    """A table breaks its schema; the message names file, row and column."""
