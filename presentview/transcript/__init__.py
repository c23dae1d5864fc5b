"""A session as a person saw it: a fold of records into cards, and views over the cards."""
