"""The settings of an audit, and the configuration file that holds them."""
