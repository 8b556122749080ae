"""The stages of an answer, one a file, each a function from frozen values to a frozen value."""
