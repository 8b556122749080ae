"""The deterministic input gate: rules on the intent of a message, never on its topic, and no model."""
