"""The documentation as a site: the pages of this repository as they are, and a reference of the library."""
