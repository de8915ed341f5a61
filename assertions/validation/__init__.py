"""JSON documents against JSON Schema: one validator, whatever asks."""
