"""Who is asking? Signing in to the portal (and to Azure OpenAI) for the length of one command.

What is received stays in the memory of this process. It is handed to the run through the environment, and on a socket
that only this user can reach when it was renewed; it is written nowhere. docs/sign-in.md describes it for people.
"""
