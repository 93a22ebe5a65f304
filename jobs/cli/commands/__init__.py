"""The commands: each file is one, with its options, its function of the file's name, and its texts for people.

They are imported to print help, so what they compute with is imported inside their functions.
"""
