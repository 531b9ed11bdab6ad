"""What the user reads: recorded events, nodes and edges of a graph, what they hold, and cycles."""
