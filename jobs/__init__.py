"""The batch job: embed, prefilter, solve, collect, report; on Ray, from one command."""
