"""Proofs on whole counts: which rho no set of k whole items meets, and which set is the best that does.

proof                 what a proof says, and which one a class has
separable             saturated: a price on MPR^2
marginals             linear functions of one-hot labels: a lattice of whole marginal counts
cell_lattice          other balls over few cells: the lattice of the cells' counts
group_limits          named groups: limits of whole counts
deepening             sets near the dual bound are searched first
lattice, ball_prices  what the lattices share: a triangular basis; dual prices in its coordinates
registry              which class has which proof
products              kernels that are products over attributes: prices on the counts of all margins
cut_counts            trees: distances of leaves to whole counts, then cut_listing (near-optimal sets under cuts), then
                      leaf_branching (branch and bound) by leaf_programme under what leaf_counts says of leaves
*_kernel              the compiled loops of each
"""
