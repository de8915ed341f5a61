"""A golden conversation: what the agent was expected to say and do, turn by turn."""
