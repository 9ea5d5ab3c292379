"""Is what a validator says true of the revision under review, and who says so?"""
