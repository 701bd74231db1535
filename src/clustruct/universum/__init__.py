"""Maximum-margin clustering that is told which documents belong to none of the clusters (SPEC 7)."""
