"""Vectors for doubles: the same text gives the same vector, texts that share letters lie near each other."""

from __future__ import annotations


def letters(text: str, dimensions: int) -> list[float]:
    """Counts of letters over `dimensions` places, at length 1."""
    counts = [0.001] * dimensions
    for char in text.lower():
        if "a" <= char <= "z":
            counts[(ord(char) - 97) % dimensions] += 1
    length = sum(value * value for value in counts) ** 0.5
    return [value / length for value in counts]
