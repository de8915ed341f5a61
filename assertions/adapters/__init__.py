"""Records that other programs wrote, read into ours: one module per shape.

What a shape does not tell stays unknown: `Episode.tool_calls` is None when the calls can not be read, and `turn` is 0
when it is not known. An unknown shape is never "no tools".
"""
