/* All constraints of a mechanism as rows: their workspace, and the lengths in which they count. */
#ifndef LW_DAE_CONSTRAINTS_H
#define LW_DAE_CONSTRAINTS_H
#include "block/state.h"
#include "dae/constraint_pattern.h"

/* Vectors of the constraints and of the equations with multipliers, whose n unknowns are [q; u; Lambda; Mu]. */
struct lw_constraint_workspace {
  double *y, *ydot, *residual;    /* [n] complex: point and residual of the equations */
  double *row, *phi, *rate;       /* [rows] complex: combination of the rows; their values and rates */
  double *column;                 /* [nu] complex: J' row */
  double *length, *diagonal;      /* [rows] in which each counts; pivots */
  int32_t *order;                 /* [rows] of pivots */
  lw_constraint_pattern *pattern; /* NULL until it is needed */
  int64_t topologies;             /* of the state when the pattern was made */
};

/* Allocated when it is first needed. */
lw_status lw_open_constraint_workspace(lw_state *s, lw_constraint_workspace **workspace);
/* Length in which a cluster's displacements and the rows of its constraints count; 1 for none (-1). */
double lw_cluster_length(const lw_state *s, int32_t cluster);

/* Of speed c of a tree joint, by radians or lengths: not one in trains of gears (loops/speed_metric_kernel.h). */
double lw_speed_unit(const lw_state *s, const lw_link *link, int32_t c);
/* Phi and J at the state, in one pass. */
lw_status lw_constraint_equations(lw_state *s, double *phi, double *matrix);
/* Of n rows, by number, the derivatives by the tree's speeds: matrix[n][nu]. */
lw_status lw_constraint_gradients(lw_state *s, const int32_t *rows, int32_t n, double *matrix);
/* The pattern of the present topology, and the entries of J by it. */
lw_status lw_open_constraint_pattern(lw_state *s, const lw_constraint_pattern **pattern);
lw_status lw_constraint_entries(lw_state *s, const lw_constraint_pattern *pattern, double *entry);
/* Of each row; `open` where its loop is open. */
void lw_constraint_lengths(const lw_state *s, double open, double *length);
#endif
