"""What does a person type? The command line around promptfoo's own runs."""
