"""A real small language model plays agent and developer (`npm run eval:real`): getting it, running it, and how it went.

What is needed is fetched when it is first asked for, into the data folder: an environment with the engine, and the
model's file. docs/real-model.md describes it for people.
"""
