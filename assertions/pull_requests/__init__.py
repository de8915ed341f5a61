"""Which pull requests did this episode create, and what has become of them at their host?"""
