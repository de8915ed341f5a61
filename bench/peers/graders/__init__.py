"""Each file grades the episodes of `bench.bulk` with one peer, in that peer's environment. Never imported by us."""
