"""How is one conversation run? The production agent, its loop and tools, and the simulated user who talks to it."""
