"""Postgres: vectors, keyword channel, ledger, queue; the only store."""
