"""What is known about one pull request: model, events, effects, facts."""
