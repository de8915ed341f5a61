"""What stands in for production on one machine: the portal with its test repository, and the model.

Nothing imports this package. It is started as a process (`python -m local serve …`) and reached over the same HTTP
that production offers.
"""
