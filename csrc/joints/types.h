/* The list of joint types, for code outside the kernels: numbers and names. */
#ifndef LW_JOINTS_TYPES_H
#define LW_JOINTS_TYPES_H
#include <stdint.h>
#include <assert.h>

typedef enum lw_joint_type {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) LW_##TYPE,
#include "joints/types_list.h"
#undef JOINT
  LW_JOINT_TYPES
} lw_joint_type;

#define LW_ANY_NUMBER (-1) /* of parameters: those of a path */

/* A rotation leaves the point of the child where it is, a translation its axes. */
typedef enum lw_joint_motion { LW_GENERAL = 0, LW_ROTATION, LW_TRANSLATION } lw_joint_motion;

/* The canonical joint frame by the axes that a description gives, unit vectors in the joint frame: parallel to it; z along
 * one axis by the shortest rotation; z along a normal, x as near to the joint frame's as it can be; z along the first and
 * x along the second of two perpendicular axes. */
typedef enum lw_joint_axes { LW_NO_AXES = 0, LW_AXIS, LW_NORMAL, LW_AXES_Z_X } lw_joint_axes;

/* Where the joint's kind is asked for in the hot loops: masks of types. */
enum {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) \
  +((motion) == LW_ROTATION ? 1 << LW_##TYPE : 0)
  LW_ROTATIONAL_TYPES = 0
#include "joints/types_list.h"
#undef JOINT
};
enum {
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes) \
  +((motion) == LW_TRANSLATION ? 1 << LW_##TYPE : 0)
  LW_TRANSLATIONAL_TYPES = 0
#include "joints/types_list.h"
#undef JOINT
};

/* How many coordinates, speeds and parameters a type of joint has, and which speeds are of displacements (a mask). */
typedef struct lw_joint_size {
  const char *name;
  int32_t q, u, translations, parameters, motion, axes;
} lw_joint_size;
extern const lw_joint_size lw_joint_sizes[LW_JOINT_TYPES];

static_assert(LW_FIXED == 0 && LW_REVOLUTE == 1 && LW_PRISMATIC == 2, "these are inlined: the first three");
static_assert(LW_JOINT_TYPES < 31, "masks of types hold 31");
#define JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes)                           \
  static_assert((speeds) <= 6 && (coordinates) >= (speeds) && (coordinates) <= 7, #type ": coordinates, speeds"); \
  static_assert((displacements) < 1 << (speeds), #type ": a displacement is none of its speeds");                 \
  static_assert((parameters) <= 1 && sizeof #type <= 16, #type ": one parameter, a name of 15 characters");
#include "joints/types_list.h"
#undef JOINT

static inline int lw_is_rotational(int32_t type) { return LW_ROTATIONAL_TYPES >> type & 1; }
static inline int lw_is_translational(int32_t type) { return LW_TRANSLATIONAL_TYPES >> type & 1; }
#endif
