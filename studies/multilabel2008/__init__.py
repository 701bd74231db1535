"""Multi-label learning with approximate inference: Tables 5.1 to 5.5, Figures 5.1, 5.2 (dissertation)."""
