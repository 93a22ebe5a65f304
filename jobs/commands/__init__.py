"""Commands of `mpr-audit` by what they work on; `jobs.cli` has the ones that run audits."""
