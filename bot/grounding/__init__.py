"""Claims that validators make, and their verification."""
