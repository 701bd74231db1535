"""Loss-augmented searches for the most violated clustering."""
