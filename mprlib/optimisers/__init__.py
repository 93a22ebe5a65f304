"""Retrieval that maximises similarity under a bound on MPR."""
