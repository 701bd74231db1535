"""Image segmentation, named in chapters 1 and 4: regions of photographs, put together as people do."""
