"""Data frames of any library in and out: pandas, polars and pyarrow, through narwhals.

Nothing here imports a frame library before a frame of it comes.
"""
