"""Lessons: what authors keep getting wrong in a repository, with evidence and a measured effect."""
