"""Other people's matchers, each in an environment of its own, to be compared with ours. Not part of the set-up."""
