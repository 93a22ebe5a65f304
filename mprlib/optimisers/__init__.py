"""Retrieval that maximises similarity under a bound on MPR.

Where is what, in the order of a sweep. X_kernel has the compiled loops of X; other kernels stand beside their users.

methods        mopr, quadratic (mopr_qp), integer (mopr_integer, with proven_search), paper (mopr_paper); constrained is
               what they share, claiming for labels that may be wrong
problem        request (rho), cell_pool (counts of items per cell), region (MPR <= rho for whole counts:
               ball_region, kernel_region, cut_region)
relaxation     relaxation (its dual bound), solve_relaxation (which method solves it):
               balls      ball_path (ball_line, path_kernel, path_points_kernel, zero_gap), smooth_path with
                          projected_gradient (gradient_kernel) over embeddings, cone
               others     cutting_plane with programmes
simplex        cell_programme, under cuts, and ranged_programme, under limits of groups: simplex_kernel by steps;
               basis_kernel, basis_update_kernel (inverse_kernel) what they start from; vertex_kernel and penalty_kernel
               what is read from the last one
whole sets     incumbent, set_search, and by kind of class:
               balls      cell_search with rounding, reference_starts and ball_search (ascent_kernel), then
                          ball_annealing (ball_anneal_kernel); item_swaps with shortlist over embeddings
               trees      tree_search (tree_moves_kernel)
               others     cell_search with local_search; separation asks the measuring code and adds cuts
proof          the folder whole, certificate (bounds, status, message); for mopr_integer enumeration with partial_sums,
               near_counts, branch_and_bound
orders         order_rows and order (order_beam_kernel), order_weights (order_branch_kernel, order_climb_kernel), with
               order_course and order_groups
solvers        linear_model (the programmes), backend (which solver), highs, gurobi
of several     near_kernel, cooling_kernel, random_kernel, sorting_kernel, rows_kernel, feature_columns_kernel
"""
