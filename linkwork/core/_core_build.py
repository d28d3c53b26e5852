"""Describes the C core to cffi. CMake runs it; the declarations are the public header itself, so they cannot drift."""

import re
from pathlib import Path

from cffi import FFI

CSRC = Path(__file__).resolve().parents[2] / "csrc"
RATES = "block/compiled_rates.h", "evaluation/rates.h"
TAPES = "tape/tapes.h", "tape/run_jacobians.h"
HEADERS = tuple(CSRC / name for name in ("include/linkwork.h", *RATES, *TAPES))

# Right-hand sides, event functions and Jacobians written in Python, and functions that runs call back
# (`lw_run_calls`); `context` is a handle to them.
CALLBACKS = """
extern "Python" int lw_py_derivative(void *context, double t, const double *y, double *ydot);
extern "Python" int lw_py_events(void *context, double t, const double *y, double *indicators);
extern "Python" int lw_py_angular_speed(void *context, double t, const double *y, double *speeds);
extern "Python" int lw_py_jacobian(void *context, double t, const double *y, double *matrix, double *by_time);
extern "Python" int lw_py_run_law(void *context, double t, const double *x, double *xdot);
extern "Python" int lw_py_run_events(void *context, double t, const double *x, double *indicators);
extern "Python" int lw_py_run_on_event(void *context, double t, const double *x, const int32_t *crossed);
extern "Python" int lw_py_run_sample(void *context, double t, double *inputs);
extern "Python" int lw_py_run_enter_part(void *context, int32_t part);
extern "Python" int lw_py_run_start(void *context, double t, const double *y, double until, double max_step);
extern "Python" int lw_py_run_advance(void *context, int64_t tries, lw_ode_output *rows, lw_run_reach *reach);
"""


# Macros with a number, of which cffi wants the type.
CONSTANTS = """
static const double LW_ODE_SAMPLE_ANGLE, LW_RANK_TOLERANCE;
static const int LW_ODE_MAX_SAMPLES, LW_ODE_COUNTED_SAMPLES, LW_RUN_MOST_FOLLOWING;
"""

# Of csrc/math/tolerances.h, those that Python asks with as well.
THRESHOLDS = """
static const double ASSEMBLY_TOLERANCE, OUTSIDE_TOLERANCE, STEP_SHARE;
"""

# Of fmu_src/controllers/controller.h; the compiler completes the types.
CONTROLLERS = """
typedef struct controller_instance controller_instance;
typedef struct controller_type {
  int (*check)(controller_instance *c);
  int (*outputs)(controller_instance *c, double t);
  int (*update)(controller_instance *c, double t, double dt);
  ...;
} controller_type;
typedef struct controller_model { const controller_type *type; uint32_t n_variables; ...; } controller_model;
struct controller_instance { controller_model model; double *x; char message[...]; ...; };
int controller_create(controller_instance *c, const unsigned char *bytes, size_t size);
void controller_free(controller_instance *c);
"""


def declarations(header: str) -> str:
    """Return what cffi reads: no lines of the preprocessor, nothing for C++ alone, no LW_API."""
    header = re.sub(r"^#ifdef __cplusplus$.*?^#endif$|\bLW_API\b", "", header, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", header, flags=re.MULTILINE)


ffibuilder = FFI()
DECLARED = "".join(declarations(header.read_text(encoding="utf-8")) for header in HEADERS)
ffibuilder.cdef(DECLARED + CONSTANTS + THRESHOLDS + CALLBACKS + CONTROLLERS)
OF_C = "linkwork.h", "evaluation/rates.h", *TAPES, "math/tolerances.h", "controllers/controller.h"
ffibuilder.set_source("linkwork.core._core", "\n".join(f'#include "{name}"' for name in OF_C))
