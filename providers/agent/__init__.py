"""The production agent: built from its configuration, with its tools over MCP and its loop over a chat model."""
