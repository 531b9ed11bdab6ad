"""What renders the elementwise table at build time."""
