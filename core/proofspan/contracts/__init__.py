"""Records, chunk ids and the rules they follow; nothing here knows where a record is stored."""
