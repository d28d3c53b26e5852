/* The joint types, in the order of lw_joint_type: a line each. With JOINT defined, each file is the row of its type in a
 * list; without, it is what kernels know of it.
 *   JOINT(TYPE, type, coordinates, speeds, displacements, parameters, motion, axes)
 * displacements: which speeds are of displacements rather than of angles, a mask; motion: lw_joint_motion; axes:
 * lw_joint_axes. The first three are inlined in the hot loops. */
#include "joints/fixed_kernel.h"
#include "joints/revolute_kernel.h"
#include "joints/prismatic_kernel.h"
#include "joints/universal_kernel.h"
#include "joints/cylindrical_kernel.h"
#include "joints/planar_kernel.h"
#include "joints/spherical_kernel.h"
#include "joints/free_kernel.h"
#include "joints/screw_kernel.h"
#include "joints/pin_in_slot_kernel.h"
#include "joints/curved_slide_kernel.h"
#include "joints/curved_slot_kernel.h"
#include "joints/path_slide_kernel.h"
#include "joints/path_slot_kernel.h"
