"""How does each Python process of a run come to its libraries? It is forked from one that has imported them."""
