"""Classes of functions of people's attributes, one file each; `base` holds what they share."""
