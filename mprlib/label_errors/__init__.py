"""Labels that may be wrong: what is still known of a selection's true shares and MPR."""
