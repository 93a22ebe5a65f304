"""What a setting is: blocks of typed settings, the YAML that they are written in, and where in it each of them is."""
