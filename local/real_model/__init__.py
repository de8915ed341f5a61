"""A real small language model behind the interface of the local one: `python -m local real-model`.

`engine.py` runs in an environment of its own and serves the model as it is. `app.py` stands in front of it: it bounds
what a request may ask for, and turns tool calls that the model has written as text into `tool_calls`, because this
model does not do otherwise. The production loop knows nothing of that.
"""
