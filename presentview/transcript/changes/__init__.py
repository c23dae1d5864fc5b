"""What a session did to files: which edits, in which order, and what is known of each file."""
