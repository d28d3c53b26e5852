/* A state: the block in double, a second one in complex for derivatives, and the last message. */
#ifndef LW_STATE_H
#define LW_STATE_H
#include "kernels.h"

struct lw_state {
  const lw_model *model;
  const lw_kernels *kernels;     /* double */
  unsigned char *memory;         /* the snapshot: stage, pivots, reals */
  unsigned char *complex_memory; /* the complex block, once it has been needed */
  int32_t *stage;
  lw_block block, complex_block;
  size_t snapshot_size;
  unsigned char *snapshot; /* where the snapshot part starts */
  int complex_constants;   /* the complex block's constants belong to the present parameters */
  char message[320];
};

lw_status lw_fail(lw_state *s, lw_status status, const char *format, ...);
#endif
