"""How is a model called? Endpoints of several kinds behind one protocol, with retries, usage, prices and recordings."""
