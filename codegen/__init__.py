"""Renders the table of elementwise operations at build time."""
