"""Records: features, blocking and the command on tables whose duplicates are known."""
