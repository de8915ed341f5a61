"""How do a user and the agent take turns? A simulated user, a simulation's steps, or a golden's fixed lines."""
