"""The slash commands: what they are, how they are read, who may give them, and the shorter replies."""
