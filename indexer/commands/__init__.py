"""One command of `python -m indexer` a file."""
