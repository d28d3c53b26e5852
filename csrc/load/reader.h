/* What the files that read a serialised model share. */
#ifndef LW_READING_H
#define LW_READING_H
#include "model/model.h"

#define LW_MODEL_VERSION 18u

typedef struct lw_model_header {
  char magic[8];
  uint32_t version, size;
  uint64_t checksum; /* lw_crc32 */
} lw_model_header;

typedef struct reader {
  const unsigned char *bytes;
  size_t size, position;
  char *message;
  size_t message_size;
} reader;

typedef struct counts {
  int32_t bodies, joints, loops, clusters, segments, nq, nu, nq_cut, nu_cut, ears, couplings, terms, method,
      force_types, forces, gears, line_points, distances, locks, transitions, removable_joints, requests, joint_types,
      points, measures, paths, path_numbers, formulas, formula_instructions, formula_quantities, formula_results,
      formula_numbers, formula_inputs, formula_outputs, formula_states, lookup_tables, lookup_knots, lookup_values,
      coupling_formulas, coupling_numbers, coupling_values;
} counts;

/* What a number in a table is, and so in which range. */
typedef enum lw_number_kind {
  LW_ANY,
  LW_FLAG,
  LW_A_TYPE, /* of joints, among those that the model names */
  LW_A_METHOD,
  LW_A_LINK,
  LW_LINK_OR_GROUND,
  LW_LINKS, /* how many; or the first of none */
  LW_A_JOINT,
  LW_JOINT_OR_ALL, /* -1 */
  LW_A_SPEED,
  LW_LOOP_OR_NONE,
  LW_A_CLUSTER,
  LW_CLUSTER_OR_NONE,
  LW_A_COUPLING,
  LW_A_POINT,
  LW_A_FORCE
} lw_number_kind;

/* The tables of whole numbers in their order: X(name, list of the model, rows, check of the whole, kind of each number
 * of a row). a function read_NAME() in tables.c takes a row; `rows` are in counts, but for LW_STEP_LINKS: all that steps add.
 *   force_type       its name, zero behind it; how many. They stand in the order of forces/types_list.h
 *   joint_type       its name, zero behind it
 *   link             body joint parent reversed, parents first
 *   joint            type (of these names), first coordinate, first speed
 *   loop             joint parent child root cluster
 *   cluster          root first_link links method
 *   segment          cluster first count
 *   step             cluster loop links, cluster by cluster, in the order in which loops are solved
 *   coupling         cluster
 *   term             coupling speed
 *   force            links of its bodies, -1: ground or none; mask of the parameters that are given. Type by type
 *   gear             force speed
 *   line_point       force link, force by force
 *   distance         links of both ends
 *   removable_joint  joint
 *   request          joint or -1, lw_method_choice
 *   transition       action joint directions bounds trigger quantity number bodies(2) direction undone captured,
 *                    see lw_transition
 *   point            link
 *   measure          kind points(2)
 *   path             joint, how many numbers
 *   path_number      a number of type double, one path after the other
 *   formula          numbers inputs quantities instructions results tables: how many. One for each force by a formula,
 *                    then for each output, for each state, and for each of the next table
 *   coupling_formula the coupling that has it, ascending
 *   formula_quantity which of the numbers of its name. Formula by formula, then one for each crossing of a variable
 *   instruction      number in formula/operations.h, three operands. Formula by formula
 *   formula_result   the instruction whose value it is, from 0 in the formula. Formula by formula
 *   lookup_table     knots of x, of y or 0; whether each is periodic; lw_interpolation, lw_outside. Formula by formula
 *   lookup_knot      a number of type double, one table after the other */
#define LW_TABLES(X)                                                                                                \
  X(force_type, force_type, c->force_types, NULL, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY)                           \
  X(joint_type, type, c->joint_types, NULL, LW_ANY, LW_ANY, LW_ANY, LW_ANY)                                         \
  X(link, link, c->bodies, NULL, LW_A_LINK, LW_A_JOINT, LW_LINK_OR_GROUND, LW_FLAG)                                 \
  X(joint, joint, c->joints, check_joints, LW_A_TYPE, LW_ANY, LW_ANY)                                               \
  X(loop, loop, c->loops, NULL, LW_A_JOINT, LW_LINK_OR_GROUND, LW_LINK_OR_GROUND, LW_LINK_OR_GROUND,                \
    LW_CLUSTER_OR_NONE)                                                                                             \
  X(cluster, cluster, c->clusters, NULL, LW_LINK_OR_GROUND, LW_LINKS, LW_LINKS, LW_A_METHOD)                        \
  X(segment, segment, c->segments, check_segments, LW_CLUSTER_OR_NONE, LW_ANY, LW_LINKS)                            \
  X(step, ear, c->ears, check_steps, LW_A_CLUSTER, LW_LOOP_OR_NONE, LW_LINKS)                                       \
  X(step_link, ear_link, LW_STEP_LINKS, check_step_links, LW_A_LINK)                                                \
  X(coupling, coupling, c->couplings, NULL, LW_CLUSTER_OR_NONE)                                                     \
  X(term, term, c->terms, check_terms, LW_A_COUPLING, LW_A_SPEED)                                                   \
  X(force, force, c->forces, NULL, LW_LINK_OR_GROUND, LW_LINK_OR_GROUND, LW_ANY)                                    \
  X(gear, gear, c->gears, check_gears, LW_A_FORCE, LW_A_SPEED)                                                      \
  X(line_point, line_point, c->line_points, check_line_points, LW_A_FORCE, LW_LINK_OR_GROUND)                       \
  X(distance, distance, c->distances, NULL, LW_LINK_OR_GROUND, LW_LINK_OR_GROUND)                                   \
  X(removable_joint, removable_joint, c->removable_joints, NULL, LW_A_JOINT)                                        \
  X(request, request, c->requests, NULL, LW_JOINT_OR_ALL, LW_ANY)                                                   \
  X(transition, transition, c->transitions, NULL, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY,   \
    LW_ANY, LW_ANY, LW_ANY, LW_ANY)                                                                                 \
  X(point, point, c->points, NULL, LW_LINK_OR_GROUND)                                                               \
  X(measure, measure, c->measures, NULL, LW_FLAG, LW_A_POINT, LW_A_POINT)                                           \
  X(path, path, c->paths, NULL, LW_A_JOINT, LW_ANY)                                                                 \
  X(path_number, path_number, c->path_numbers, check_paths, LW_ANY, LW_ANY)                                         \
  X(formula, formula, c->formulas, lw_check_formulas, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY, LW_ANY)               \
  X(coupling_formula, coupling_formula, c->coupling_formulas, NULL, LW_A_COUPLING)                                  \
  X(formula_quantity, formula_quantity, c->formula_quantities, NULL, LW_ANY)                                        \
  X(instruction, instruction, c->formula_instructions, NULL, LW_ANY, LW_ANY, LW_ANY, LW_ANY)                        \
  X(formula_result, formula_result, c->formula_results, NULL, LW_ANY)                                               \
  X(lookup_table, lookup_table, c->lookup_tables, lw_check_lookup_tables, LW_ANY, LW_ANY, LW_FLAG, LW_FLAG, LW_ANY, \
    LW_ANY)                                                                                                         \
  X(lookup_knot, lookup_knot, c->lookup_knots, lw_check_lookup_knots, LW_ANY, LW_ANY)
#define LW_MOST_COLUMNS 12
#define LW_COUNT_OF(...) ((int32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

/* The row at hand of a table, and what the rows before it have come to. */
typedef struct table_cursor {
  int32_t row, next, last;
  int32_t q[2], u[2]; /* coordinates and speeds of tree joints and of cut joints so far */
} table_cursor;

static inline int lw_within(int32_t i, int32_t low, int32_t end) { return i >= low && i < end; }

/* Writes the message; always LW_ERROR_FORMAT. */
lw_status lw_format_error(reader *r, const char *format, ...);
/* The next n bytes, or NULL where the file ends before. */
const void *lw_read_bytes(reader *r, size_t n);
/* A row whose numbers point outside the model. */
lw_status lw_row_error(reader *r, const char *table, int32_t row);
/* The tables: every index is checked before it is used. */
lw_status lw_read_tables(reader *r, lw_model *m, const counts *c);
/* Of these a joint that may open, a request and a transition: load/transition_tables.c. */
lw_status lw_read_removable_joint(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_request(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_transition(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
/* Of formulas: load/formula_tables.c. */
lw_status lw_read_formula(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_check_formulas(reader *r, lw_model *m, const table_cursor *at);
lw_status lw_read_coupling_formula(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_formula_quantity(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_instruction(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_formula_result(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_read_lookup_table(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_check_lookup_tables(reader *r, lw_model *m, const table_cursor *at);
lw_status lw_read_lookup_knot(reader *r, lw_model *m, table_cursor *at, const int32_t *v);
lw_status lw_check_lookup_knots(reader *r, lw_model *m, const table_cursor *at);
/* The formulas as programs, with their tables, once the block is laid out. What they read is checked. */
void lw_count_kinks(lw_model *m);
lw_status lw_make_programs(reader *r, lw_model *m);
/* Which constraints reach which links, where the model asks for multipliers. */
lw_status lw_plan_multipliers(reader *r, lw_model *m);
void lw_free_multipliers(lw_multipliers *plan);
/* As lw_model_load, but a model whose joints may open keeps nothing of which variants are made. */
lw_status lw_read_model(const void *bytes, size_t size, lw_model **model, char *message, size_t message_size);
/* Where every field lies in the block. */
lw_status lw_layout_block(reader *r, lw_model *m);
/* The order in which divide and conquer joins the bodies. */
lw_status lw_dca_plan_model(lw_model *m);
/* Data derived from the tables: columns, workspaces of the clusters, marks for the sweeps, the layout of the block. */
lw_status lw_layout_model(reader *r, lw_model *m);
/* Sets the expected independent columns and degrees of freedom of each cluster. */
lw_status lw_estimate_dof(lw_model *m);
/* Of closed poses around the start, once all is laid out. */
lw_status lw_find_regular_dof(lw_model *m);
/* Columns that the single loops of a cluster would leave if all were planar and regular. */
int32_t lw_planar_independent_columns(const lw_model *m, const lw_cluster *c);
#endif
