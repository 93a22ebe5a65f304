"""Typed blocks of settings, the YAML that they are read from, and the file, line and key of each setting."""
