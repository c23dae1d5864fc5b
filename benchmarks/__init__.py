"""How fast presentview is, as ratios of two things measured in turn in one run."""
