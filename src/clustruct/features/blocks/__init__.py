"""The kinds of pair features, one file each."""
