"""The demo: a made-up story and a page that shows it."""
