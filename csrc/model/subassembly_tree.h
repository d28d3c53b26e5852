/* The order in which bodies are joined to ever larger subassemblies (Mukherjee and Anderson 2007, section 3): a binary
 * tree over the bodies, as low as matching neighbours makes it. A subassembly is known to the outside by its handles,
 * the bodies with constraints that are still to be made. */
#ifndef LW_DCA_SUBASSEMBLY_TREE_H
#define LW_DCA_SUBASSEMBLY_TREE_H
#include <stdint.h>

/* A joint, pin, coupling or distance: it imposes rows of constraints on the velocities of a few bodies. */
typedef struct lw_dca_constraint {
  int32_t first, ends;          /* these bodies, in plan->end; the ground is none of them */
  int32_t rows;                 /* at most */
  int32_t rotors;               /* rows that may have a rotor, which brings a column of its own */
  int32_t first_row;            /* their numbers */
  int32_t first_jacobian_block; /* six coefficients for each end of each row: where they start, in sixes */
} lw_dca_constraint;

typedef struct lw_dca_subassembly {
  int32_t child[2];                      /* subassemblies that it joins; the second -1: a single body */
  int32_t first_handle, handles;         /* of its children, in plan->handle; the first child's first */
  int32_t first_remaining, remaining;    /* those that remain handles, in plan->remaining */
  int32_t first_constraint, constraints; /* made here, in `plan->constraint` */
  int32_t rows;                          /* of these */
  int32_t level;                         /* one above the higher child; 0: a single body */
  int32_t columns, remaining_columns;    /* columns of the factor of the compliances of its children, and of its own */
  int32_t rotors;                        /* of the columns: those of the rotors of its constraints, the last */
  int64_t first_real, first_integer;     /* of its data, see dca/solve_kernel.h */
} lw_dca_subassembly;

/* The plan's bodies: those of the model by number, then the further fragments of high-degree bodies. */
typedef struct lw_dca_fragment {
  int32_t link, fragments; /* the link of which it is a fragment, and how many that has */
} lw_dca_fragment;

typedef struct lw_dca_list {
  int32_t *at, length, capacity;
} lw_dca_list;

typedef struct lw_dca_plan {
  int32_t bodies, constraints, rows, jacobian_blocks;
  lw_dca_constraint *list;   /* of all constraints */
  int32_t *end;              /* bodies */
  lw_dca_fragment *fragment; /* of each body; the plan is made without */
  int32_t *handle_index;     /* of each end: which handle of the subassembly that makes its constraint */
  int32_t subassemblies, levels;
  lw_dca_subassembly *subassembly; /* children before parents; the first are the bodies, by number */
  int32_t *order;                  /* subassemblies, children before parents: independent tasks, then the rest */
  int32_t *task, tasks;            /* where each of these starts in the order, then the rest */
  lw_dca_list handle, remaining;
  int32_t *constraint;
  int64_t reals, integers, scratch; /* sizes of a solution; scratch of the largest subassembly */
} lw_dca_plan;

#define LW_DCA_SCRATCH(x) ((int64_t)(6 * (x)->handles + 2 * (x)->rows + 8) * ((x)->columns + (x)->rows + 2))

/* Reflections that bring the columns of the factor down to those that the remaining handles need. */
static inline int32_t lw_dca_compressing(const lw_dca_subassembly *x) {
  return x->columns > 6 * x->remaining ? 6 * x->remaining : 0;
}

/* The list and the ends, from malloc, become the plan's. Returns 0 if there is not enough memory. */
int lw_dca_plan_make(int32_t bodies, int32_t constraints, lw_dca_constraint *list, int32_t *end, lw_dca_plan *plan);
void lw_dca_plan_free(lw_dca_plan *plan);
#endif
