"""Sessions for other programs: as documents, traces and tables."""
