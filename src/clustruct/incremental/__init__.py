"""Groups that live on: new items for known groups, ids that last, decisions of people, what changed."""
