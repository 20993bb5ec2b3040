"""Reading any lab's table: what it is, what is wrong with it, and what a flag may repair."""
