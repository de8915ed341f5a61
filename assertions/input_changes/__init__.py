"""How does the configuration that was submitted differ from its source? The machinery behind `input_diff`."""
