/* Compilation of a description into a model: spanning tree, topology variants, tables. */
#ifndef LW_BUILDER_PLAN_H
#define LW_BUILDER_PLAN_H
#include "description.h"
#include "load/reader.h"

/* What transitions ask of the topology: speeds that may be locked, joints that may open. */
typedef struct variants {
  int32_t (*lock)[2], locks; /* joint and speed among its own, ascending */
  int32_t *removable_joint, removable_joints;
  unsigned char *open; /* of each joint: it is open at first */
} variants;

/* The joints that carry the bodies, rooted in ground; whichever joints are open, the tree is the same. Lists over
 * bodies have the ground at -1. */
typedef struct spanning_tree {
  int32_t bodies, cuts;
  int32_t *parent, *joint, *depth; /* of each body: what carries it, and the number of joints to ground */
  int32_t *first_child, *child;    /* children of body k: child[first_child[k]] up to first_child[k + 1] */
  int32_t *head;  /* the innermost body of its chain: each body continues in the child that carries most */
  int32_t *order; /* depth-first, each before those it carries */
  int32_t *cut;   /* joints outside the tree, ascending */
  int32_t *memory;
} spanning_tree;

/* Bodies that fixed joints hold together are one group, named by one of its bodies. Lists have the ground at -1. */
#define MASSLESS_NEEDS 3 /* kinds of joints by how much a massless group needs them */
typedef struct massless_groups {
  int32_t *of;             /* of each body */
  int32_t *massless;       /* of each group: it has no inertia */
  int32_t *degree, *first; /* of each group: joints at it; scratch */
  int32_t *inboard;        /* of each group: its tree joint; scratch */
  int32_t *next, *path;    /* of joints; scratch */
  int32_t any;
  int32_t *memory; /* NULL: there is no group without inertia, and no list */
} massless_groups;

/* Clusters by bodies. A tie is a coupling, a lock or a distance, in this order. */
typedef struct cluster_groups {
  int32_t groups;
  int32_t *root;                       /* of each group: the body that supports all of it */
  int32_t *of_body, *of_loop, *of_tie; /* group, or -1 */
  int32_t *on_loop;                    /* of each body: its tree joint lies on a loop */
  int32_t *memory;
} cluster_groups;

/* Bodies that ties join, CSR; a tie without bodies is idle. */
typedef struct tie_list {
  int32_t ties, *first, *body, *memory;
} tie_list;

/* Rows are those of the serialised model, see load/reader.c and writer.c. */
typedef struct topology {
  int32_t loops, clusters, segments, ears, ties;
  int32_t (*link)[4], (*loop)[5], (*cluster)[4], (*segment)[3], (*ear)[3];
  int32_t *ear_link, *tie_cluster;
  int32_t *link_of; /* of each body; the ground, -1, is -1 */
  int32_t *memory;
} topology;

/* Where coordinates and speeds of each joint start: tree joints as they were added, then cut joints. */
typedef struct numbering {
  int32_t nq, nu, nq_cut, nu_cut, *q, *u;
} numbering;

typedef struct model_bytes {
  unsigned char *bytes;
  size_t size, capacity;
  int failed; /* no memory */
} model_bytes;

/* Everything that is needed to write one variant. */
typedef struct plan {
  lw_builder *builder;
  const lw_model *known; /* NULL, or the model of another variant and its bytes, from which all is taken that the */
  const unsigned char *known_bytes; /* variants share; the builder has only what the topology needs then */
  variants variants;
  spanning_tree tree;
  numbering at;
  int32_t *is_cut;                  /* of each joint */
  int32_t *term_order, *first_term; /* terms of each coupling, CSR */
  int32_t *memory;                  /* of these lists and the numbering */
} plan;

/* ---- transitions.c ---- */
/* Every friction that is not smooth makes its speed stick: a transition behind all others, and across gears a coupling
 * behind all others. */
lw_status lw_add_sticking(lw_builder *b);
void lw_remove_sticking(lw_builder *b);
lw_status lw_check_transitions(lw_builder *b);
/* Joints of pins stand behind all others meanwhile. */
lw_status lw_plan_variants(lw_builder *b, variants *v);
void lw_free_variants(variants *v);
/* The end of its command undoes it: it is a lock or a pin that nothing else undoes. */
int lw_is_undone(const lw_builder *b, const transition_part *t);

/* ---- tree_and_cut_joints.c ---- */
lw_status lw_span(lw_builder *b, spanning_tree *tree);
/* The lowest common ancestor of two bodies. */
int32_t lw_meeting_body(const spanning_tree *tree, int32_t first, int32_t second);

int32_t lw_find_group(int32_t *group, int32_t body); /* in a union-find */

/* ---- massless_leaves.c ---- */
int lw_has_inertia(const body_part *body);
/* Returns 0 where there is no memory. */
int lw_group_massless(const lw_builder *b, massless_groups *g);
/* For each joint how much the tree needs it, the least number most. */
void lw_need_of_massless(const lw_builder *b, const massless_groups *g, int32_t *need);
/* Makes massless leaves inner nodes of the tree, each by an exchange of two joints, where one exists. `place`: of each
 * joint in the order in which the tree takes them. */
void lw_exchange_massless_leaves(const lw_builder *b, const massless_groups *g, unsigned char *in_tree,
                                 const int32_t *place);

/* ---- massless.c ---- */
#define LW_REASON 640 /* bytes of a reason in words */
/* Why massless bodies keep a method for the whole mechanism from taking it; empty: they do not. */
void lw_refuse_massless_method(const lw_model *m, lw_method_choice method, char *text, size_t size);
/* Refuses massless bodies that move by themselves, and those that the method asked for cannot take. */
lw_status lw_check_massless(lw_builder *b, const lw_model *m);

/* ---- clusters.c ---- */
lw_status lw_group(lw_builder *b, const spanning_tree *tree, const unsigned char *closed, const tie_list *ties,
                   cluster_groups *found);

/* ---- topology.c, loop_order.c ---- */
/* With these joints open, a mark for each joint. */
lw_status lw_lay_topology(const plan *p, const unsigned char *open, topology *t);
/* Writes the solution order of the loops of all clusters. */
lw_status lw_order_loops(const plan *p, const cluster_groups *groups, topology *t);

/* ---- methods.c ---- */
#define LW_MOST_EMBEDDED_ROWS 1000 /* of closures as one matrix */
/* Writes the method of each cluster, by what its model, solved loop by loop, expects. `partly`: a joint with a requested
 * method may lie in no cluster. */
lw_status lw_choose_methods(lw_builder *b, topology *t, const lw_model *m, int partly);

/* ---- writer.c ---- */
void lw_write_model(const plan *p, const topology *t, int32_t method, model_bytes *out);

/* ---- variant.c ---- */
/* Writes the variant with these joints open, a mark for each joint, and reads it; it keeps no variants of its own. */
lw_status lw_compile_variant(const plan *p, const unsigned char *open, model_bytes *out, lw_model **model);
void lw_free_plan(plan *p);
#endif
