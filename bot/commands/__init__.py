"""One command of `python -m bot` a file."""
