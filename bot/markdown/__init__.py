"""Read and escape Markdown."""
