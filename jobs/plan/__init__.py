"""Settings and inputs to units of work, each named by what determines it."""
