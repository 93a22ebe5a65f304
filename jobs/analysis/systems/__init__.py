"""Two systems over the same queries: runs with different encoders, engines or lists, or two methods of one run.

`comparison` is about one system that is watched; here neither side is the old one.
"""
