"""Proofs on whole counts: which rho no set of k whole items meets, and which set is the best that does.

proof                 what a proof says, and which one a class has
separable             saturated: a price on MPR^2
marginals             linear functions of one-hot labels: a lattice of whole marginal counts
cell_lattice          other balls over few cells: the lattice of the cells' counts
group_limits          named groups: limits of whole counts
deepening             sets near the dual bound are searched first
lattice, ball_prices  what the lattices share: a triangular basis; dual prices in its coordinates
registry              which class has which proof
cut_counts            trees: distances of leaves to whole counts, and near-optimal sets listed under cuts
*_kernel              the compiled loops of each
"""
