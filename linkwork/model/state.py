"""The state of a model, under the name by which the other folders know it."""

from linkwork.model.base import State
from linkwork.model.state_values import JointArray, check_state

__all__ = ["JointArray", "State", "check_state"]
