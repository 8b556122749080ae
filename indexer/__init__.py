"""The admins' room: sources, pipeline, store; reconcile; status."""
