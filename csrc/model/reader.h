/* What the files that read a serialised model share. */
#ifndef LW_READING_H
#define LW_READING_H
#include "model/model.h"

#define LW_MODEL_VERSION 7u

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
  int32_t bodies, joints, loops, clusters, segments, nq, nu, nq_cut, nu_cut, ears, couplings, terms, method, springs,
      wrenches, distances, locks, transitions, removable_joints, variants, closed, joint_types;
} counts;

/* Writes the message; always LW_ERROR_FORMAT. */
lw_status lw_format_error(reader *r, const char *format, ...);
/* The next n bytes, or NULL where the file ends before. */
const void *lw_read_bytes(reader *r, size_t n);
/* The tables of integers: every index is checked before it is used. */
lw_status lw_read_tables(reader *r, lw_model *m);
/* Of these, the joints that may open and the transitions: events/reader.c. */
lw_status lw_read_removable_joints(reader *r, lw_model *m);
lw_status lw_read_transitions(reader *r, lw_model *m);
/* Which constraints reach which links, where the model asks for multipliers. */
lw_status lw_plan_multipliers(reader *r, lw_model *m);
void lw_free_multipliers(lw_multipliers *plan);
/* The other models of a mechanism whose joints may open; `read` reads one. All are laid out alike. */
lw_status lw_read_variants(reader *r, lw_model *m, lw_status (*read)(reader *r, lw_model **model));
void lw_free_variants(lw_model *m);
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
