"""Retrieval that maximises similarity under a bound on MPR.

methods        mopr, quadratic (mopr_qp), integer (mopr_integer), paper (mopr_paper)
problem        request (rho), cell_pool (counts of items per cell), region (MPR <= rho for whole counts:
               ball_region, kernel_region, cut_region)
relaxation     relaxation (its dual bound), solve_relaxation (which method solves it): ball_path with
               ball_line and zero_gap, smooth_path with projected_gradient, cone, cutting_plane with programmes
whole sets     incumbent, set_search: cell_search with rounding, local_search (ball_search in a ball) and
               reference_starts, item_swaps, or tree_search; ball_annealing goes on far from the bound; separation
               asks the measuring code and adds cuts
proof          certificate (bounds, status, message), enumeration with partial_sums, branch_and_bound
solvers        linear_model (the programmes), backend (which solver), cell_programme (a simplex method over cells),
               highs, gurobi
"""
