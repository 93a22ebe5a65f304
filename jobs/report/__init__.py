"""What people read of a run: the page, its pictures and tables, and the paper's exhibits."""
