"""A mechanism that has something of everything that has variables."""

import numpy as np

import linkwork as lw

KINDS = (
    lw.Revolute((0, 1, 0)),
    lw.Prismatic((1, 0, 0)),
    lw.Universal((1, 0, 0), (0, 1, 0)),
    lw.Cylindrical((0, 0, 1)),
    lw.Planar((0, 0, 1)),
    lw.Spherical(),
    lw.Free(),
    lw.Fixed(),
)
ON_GROUND = (0, 4, 6)


def zoo(*, friction: bool = True) -> lw.Mechanism:
    mech = lw.Mechanism("zoo")
    for i, kind in enumerate(KINDS):
        mech.add_body(f"b{i}", mass=1.0 + i, com=(0.1, 0, 0), inertia=np.eye(3) * 0.1)
        parent = "ground" if i in ON_GROUND else f"b{i - 1}"
        mech.add_joint(f"j{i}", kind, parent, f"b{i}", parent_frame=lw.Frame((0.3, 0.1, 0)))
    mech.add_joint("cut", lw.Spherical(), "b6", "b3", parent_frame=lw.Frame((0.1, 0, 0.2)))
    cord = {"points": ((0, 0, 0), (0.1, 0, 0)), "stiffness": 10.0, "damping": 1.0, "free": 0.1}
    mech.add_force(lw.SpringDamper(name="cord", bodies=("b0", "b4"), **cord))
    mech.add_force(lw.Wrench("b2", (0, 0, 0.1), name="push"))
    servo = {"gain": 3.0, "stiffness": 5.0, "damping": 1.0, "input_range": (-1, 1), "force_range": (-4, 4)}
    mech.add_force(lw.Actuator("grip", {"j0": 0.5, "j4[3]": 2.0}, **servo))
    mech.add_force(lw.Actuator("spin", {"cut[2]": 1.0}))
    mech.add_force(lw.Force("j1", "-k*q*abs(q) + c*cut.u[2]*sin(w*time)", parameters={"k": 2.0, "c": 0.1, "w": 3.0}))
    line = {"bodies": ("b1", "ground"), "points": ((0, 0, 0), (0.2, 0, 1)), "inputs": ("p",), "name": "jack"}
    mech.add_force(lw.Force(formula="a*p*(length - l0)", parameters={"a": 5.0, "l0": 0.2}, **line))
    tables = {
        "drag": lw.LookupTable((-1, 0, 2), (1, 0, -3), interpolation="monotone", outside="extend"),
        "map": lw.LookupTable((-3, 3), ((0, 2), (1, 4)), y=(0, 9)),
    }
    brake = {"body": "b4", "force": ("drag(j4.u[1])", "map(j4.q[1], time)", "-d*j4.u[1]"), "axes": "body"}
    mech.add_force(lw.Force(**brake, parameters={"d": 0.3}, tables=tables, name="brake"))
    frames = lw.Frame((0.1, 0, 0)), lw.Frame.from_axes(x=(0, 1, 0), y=(0, 0, 1))
    mech.add_force(
        lw.Bushing(("b1", "b5"), frames, np.eye(6) + 1.0, (0.1,) * 6, preload=(1, 2, 3, 0.1, 0.2, 0.3), name="mount")
    )
    way = {"points": ((0, 0, 1), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.5)), "factors": (1.0, 0.0, 0.5)}
    elastic = {"stiffness": 20.0, "damping": 0.2, "free": (0.1, 0.2), "gain": 2.0, "input_range": (0, 3)}
    mech.add_force(lw.Tendon(bodies=("ground", "b0", "b2", "b6"), **way, **elastic, name="cable"))
    mech.add_force(lw.Tendon({"j0": 0.1, "j1": -1.0}, stiffness=3.0, preload=1.0, name="belt"))
    swing = {
        "force": ("-k*displacement[1]", "0", "-d*velocity[3]"),
        "torque": ("-c*rotation[1]", "-c*rotation[2]", "0"),
    }
    numbers = {"k": 2.0, "d": 0.1, "c": 0.3}
    mech.add_force(lw.Force(bodies=("b2", "b7"), frames=frames, **swing, parameters=numbers, name="swing"))
    heat = {"c": (2.0, "W.s2/rad2"), "k": (0.5, "W/K"), "C": (3.0, "J/K")}
    mech.add_state("heat", "(c*j0.u^2 + p - k*heat)/C", 1.0, "K", heat, inputs=("p",), nominal=10.0)
    mech.add_force(lw.DCMotor("j2[1]", resistance=0.5, inductance=0.1, constant=0.2, name="motor"))
    if friction:
        add_friction(mech)
    mech.add_distance("rod", bodies=("b4", "b6"), points=((0, 0, 0), (0.3, 0, 0.4)), length=0.5)
    mech.add_coupling("gear", {"j0": 1.0, "j1": -2.0})
    mech.add_transition("bump", lw.Stop("j0", lower=-1.0, upper=2.0, restitution=0.5))
    mech.add_transition("latch", lw.Lock("j1"), when=lw.Command())
    return mech


def add_friction(mech: lw.Mechanism) -> None:
    mech.add_force(lw.Friction("j4[3]", coulomb=0.4, static=0.5, stribeck=0.1, viscous=0.02))
    mech.add_force(lw.Brake("j3[1]", "c*p", static=1.1, parameters={"c": 0.3}, inputs=("p",), name="clamp"))
    mech.add_force(lw.Friction({"j2[2]": 0.5, "j3[2]": -1.5}, coulomb=0.3, forward=0.5, backward=2.0, name="between"))
    mech.add_force(lw.Freewheel({"j1": -1.0}, capacity=0.7, name="ratchet"))
