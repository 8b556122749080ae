"""One command of `python -m eval` a file."""
