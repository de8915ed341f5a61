"""Checks that a language model decides: one prompt, a structured reply, and nothing believed that can be checked."""
