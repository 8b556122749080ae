"""Prompts as data: jinja2 templates, one a file."""
