/* Runs a controller from the bytes of its file, if they are accepted. */
#ifndef LW_TEST_USE_CONTROLLER_H
#define LW_TEST_USE_CONTROLLER_H
#include <stdlib.h>
#include <string.h>

#include "controllers/controller.h"

/* A sum of the bits of values, all NaN alike, to compare platforms. */
static uint64_t add_bits(uint64_t sum, const double *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    if (x[i] == x[i]) memcpy(&bits, &x[i], sizeof bits);
    sum = (sum ^ bits) * UINT64_C(0x100000001b3);
  }
  return sum;
}

/* Returns whether the file is accepted; a refusal has a message. Adds all values to the sum. */
static int use_controller(const unsigned char *bytes, size_t size, uint64_t *sum) {
  controller_instance c;
  const int accepted = controller_create(&c, bytes, size);
  if (!accepted && !*c.message) abort();
  double t = accepted ? -0.25 : 1;
  if (accepted) {
    controller_start(&c, t);
    controller_refresh(&c, t);
    controller_check(&c);
  }
  for (int k = 0; t < 1 && k < 9; k++) {
    /* A sample time of the file may need many samples. */
    if (c.model.sample_time != CONTROLLER_NONE) c.x[c.model.sample_time] = k & 1 ? 0.03 : 0;
    for (uint32_t i = 0; i < c.model.n_variables; i++)
      if (c.model.variables[i].role == CONTROLLER_INPUT) c.x[i] += 0.4 * k - 1;
    c.clock[CONTROLLER_FRESH] = 0;
    controller_refresh(&c, t);
    controller_step(&c, t, t, 0.17);
    *sum = add_bits(*sum, c.block, controller_block_size(&c) / sizeof *c.block);
    t += 0.17;
  }
  controller_free(&c);
  return accepted;
}
#endif
