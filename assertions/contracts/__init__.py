"""All that must be true of one case, judged in one process."""
