"""`python -m jobs`."""

from .own_code import forget_current_folder

forget_current_folder()

from .cli import entry  # noqa: E402 - the user's folder may hold files named as packages are

entry()
