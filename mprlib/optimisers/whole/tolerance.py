"""How far a proof looks beyond rho, so that its own rounding rules out no set."""

# A gap of k items summed in another order differs by less, in the class's unit; the measuring code decides.
SMALLEST_EXCESS = 1e-13
