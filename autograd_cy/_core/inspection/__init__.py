"""Inspection of a recorded graph for the user: nodes and edges, what they hold, and cycles."""
