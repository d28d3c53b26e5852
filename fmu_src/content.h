/* The content of an FMU: a mechanism or a controller. The first bytes of resources/model.lwm state which.
 *
 * The FMI functions know modes, FMU states and log messages; what variables and steps mean is up to the content. Both
 * contents fulfil this one table: mechanism.c and controller.c. Model Exchange, Event Mode, input interpolation and
 * intermediate updates belong to mechanisms alone: `kinds` and `has_event_mode` keep importers of controllers away from
 * their functions. */
#ifndef LINKWORK_CONTENT_H
#define LINKWORK_CONTENT_H
#include "instance.h"

typedef struct fmu_content {
  uint32_t kinds; /* interface types: bits 1 << fmu_kind */
  int has_event_mode;
  int (*load)(fmu *f, const fmu_resources *resources, const fmu_instantiation *instantiation); /* 0: error is logged */
  void (*free)(fmu *f); /* after a failed `load` as well */
  fmu_status (*set_start_time)(fmu *f, double start);
  fmu_status (*exit_initialization)(fmu *f); /* a failure changes nothing: the importer may set other values */
  fmu_status (*reset)(fmu *f);
  fmu_status (*get)(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values);
  fmu_status (*set)(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values);
  fmu_status (*do_step)(fmu *f, double time, double length, fmu_step *step); /* a failure changes nothing */
  /* Everything besides `run` that is saved with the FMU state. */
  size_t (*state_size)(const fmu *f);
  fmu_status (*save_state)(fmu *f, unsigned char *bytes);
  fmu_status (*restore_state)(fmu *f, const unsigned char *bytes); /* a failure changes nothing */
  /* NULL: the model description does not declare the ability. */
  fmu_status (*directional_derivative)(fmu *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                       size_t n_knowns, const double *seed, double *sensitivity);
  fmu_status (*set_input_derivatives)(fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders,
                                      const double *values);
  fmu_status (*check_output_derivatives)(const fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders);
  fmu_status (*get_output_derivatives)(fmu *f, const uint32_t *offsets, size_t n, double *values);
} fmu_content;

extern const fmu_content fmu_mechanism, fmu_controller;

/* The content that resources are of, by their first bytes; damaged ones are of a mechanism, which refuses them. */
const fmu_content *fmu_find_content(const fmu_resources *resources);

/* ---- functions of mechanisms, in the files that are named after their subjects --------------------------- */

/* Compiled tapes in the resources folder, if it has any, give the rates of the states until they are unloaded, after the
 * core's block. */
void fmu_load_compiled_rates(fmu *f, const char *folder);
void fmu_unload_compiled_rates(fmu *f);
fmu_status fmu_mechanism_get(fmu *f, unsigned types, const uint32_t *offsets, size_t n, double *values);
fmu_status fmu_mechanism_set(fmu *f, unsigned types, const uint32_t *offsets, size_t n, const double *values);
fmu_status fmu_mechanism_do_step(fmu *f, double time, double length, fmu_step *step);
fmu_status fmu_mechanism_directional_derivative(fmu *f, const uint32_t *unknowns, size_t n_unknowns,
                                                const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                double *sensitivity);
fmu_status fmu_mechanism_set_input_derivatives(fmu *f, const uint32_t *offsets, size_t n, const int32_t *orders,
                                               const double *values);
fmu_status fmu_mechanism_check_output_derivatives(const fmu *f, const uint32_t *offsets, size_t n,
                                                  const int32_t *orders);
fmu_status fmu_mechanism_get_output_derivatives(fmu *f, const uint32_t *offsets, size_t n, double *values);
#endif
