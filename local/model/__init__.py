"""The local model: deterministic stand-ins behind an OpenAI-compatible server.

What stands in for the production models when an evaluation runs on one machine: `spoke-agent` (a careful agent),
`spoke-agent-careless` (the same agent without its care), `developer` (a simulated user), `judge`, and `scenario-writer`
(proposes test cases). They work from the request and the tool schemas alone, so the same request always gives the same
bytes.

`local.model.app.build_app(key)` is the whole server.
"""
