"""What a transcript says, turned into markup that is safe to put on a page."""
