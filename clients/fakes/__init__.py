"""Doubles of the remote services, held to their documented API, for tests and evals."""
