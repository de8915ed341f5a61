"""Which tools did the agent call, in which order, with what? The judgements behind three assertions."""
