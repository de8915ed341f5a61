"""Recordings of what models and tools answered: one file per case, keyed by the whole request."""
