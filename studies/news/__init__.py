"""News and author names: features and the command, two halves by group."""
