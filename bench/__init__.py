"""What does a run cost beyond its model calls? Every figure is taken beside its floor, in the same run."""
