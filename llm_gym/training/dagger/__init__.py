"""DAgger in ALFWorld: students that act while a teacher says what it would have done (arXiv:1011.0686)."""
