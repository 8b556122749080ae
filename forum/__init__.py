"""The pure domain: types, rules and ports; no IO, no clock, no environment."""
