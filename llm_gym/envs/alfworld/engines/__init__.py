"""What plays a game: our own engine, or TextWorld."""
