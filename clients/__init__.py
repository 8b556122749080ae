"""All IO with the outside, one service a file."""
