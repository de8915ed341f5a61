"""The local portal: spokes in a real git repository, tools over MCP, pull requests over a REST interface and a page."""
