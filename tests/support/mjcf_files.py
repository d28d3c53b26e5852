"""MJCF files of tests: each uses a group of features that Linkwork takes exactly."""

JOINTS = """<mujoco model="joints"><compiler angle="degree" eulerseq="zyx"/><option gravity="0.3 -0.2 -9"/>
<default><joint damping="0.1"/><default class="heavy"><geom density="3000"/></default></default>
<worldbody>
  <body name="stand" pos="0 0 0.5" euler="10 0 20"><geom size="0.1"/>
    <body name="arm" pos="0.1 0 1" euler="10 20 30" childclass="heavy">
      <joint name="h1" axis="0 1 0.2" pos="0.1 0 0" ref="15" stiffness="2" springref="5" armature="0.3"/>
      <joint name="s1" type="slide" axis="0 1 1" ref="0.2" pos="0.1 0.2 0.3" stiffness="40"/>
      <joint name="h2" axis="1 0 0" pos="0 0 0.2" ref="-20"/>
      <geom type="box" size=".1 .15 .2" euler="3 4 5" pos=".1 .2 .3"/><geom type="capsule" size=".05 .3" pos="0 0 .3"/>
      <body name="ball" pos="0.5 0 0">
        <joint name="b" type="ball" pos="0.1 0.1 0" armature="0.01" damping="0.2"/>
        <geom type="box" size=".1 .2 .05" pos="0.1 0 0"/>
      </body>
      <body pos="0 0.4 0"><joint axis="0 0 1" ref="30"/><geom size="0.1" pos="0.2 0 0"/></body>
    </body>
  </body>
  <replicate count="2" offset="0 2 0"><body name="drop" pos="3 0 1" quat="1 1 0 0"><freejoint/>
    <geom type="box" size=".1 .2 .3" pos="0.1 0 0.1"/>
    <body name="tail" pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
  </body></replicate>
</worldbody></mujoco>"""

EQUALITIES = """<mujoco model="equalities"><compiler angle="radian"/>
<default><joint armature="0.01"/></default>
<worldbody><site name="nail" pos="0 0 2" euler="0.1 0.2 0.3"/>
  <body name="crank" pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.2"/><geom type="box" size="0.2 0.1 0.05" mass="1"/>
    <body name="rod" pos="0.4 0 0"><joint name="b" axis="0 1 0" pos="-0.2 0 0"/>
      <geom type="capsule" size="0.05 0.2" euler="0 1.57 0" mass="1"/></body></body>
  <body name="slider" pos="0.8 0 1"><joint name="c" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  <body name="w1" pos="0 1 1"><joint name="d" axis="0 1 0" ref="0.3"/><geom size="0.1" mass="1" pos="0.1 0 0"/></body>
  <body name="w2" pos="0 2 1"><joint name="e" type="slide" axis="0 0 1" ref="-0.1"/><geom size="0.1" mass="1"/></body>
  <body name="w3" pos="0 3 1"><joint name="f" axis="0 0 1"/><geom size="0.1" mass="1" pos="0.1 0 0"/></body>
  <body name="w4" pos="0 4 1"><joint name="g" axis="0 0 1"/><geom size="0.1" mass="1" pos="0.1 0 0"/></body>
  <body name="p1" pos="2 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="1" pos="0.1 0 0"/></body>
  <body name="p2" pos="2 1 1" euler="0.1 0.2 0.3"><freejoint/><geom type="box" size="0.2 0.2 0.3" mass="1"/></body>
  <body name="p3" pos="2 2 1"><freejoint/><geom type="box" size="0.2 0.2 0.3" mass="1"/>
    <site name="hook" pos="0.1 0.2 0.3" euler="0.3 0.1 0"/></body>
  <body name="p4" pos="3 2 1"><freejoint/><geom type="box" size="0.2 0.2 0.3" mass="1"/>
      <site name="eye" pos="0 0 0.3"/></body>
  <body name="p5" pos="0 0 1.5"><freejoint/><geom type="box" size="0.2 0.1 0.3" mass="1"/>
      <site name="grip" pos="0 0 0.3"/></body>
</worldbody>
<tendon><fixed name="t1"><joint joint="d" coef="2"/><joint joint="f" coef="-1"/></fixed>
  <fixed name="t2"><joint joint="g" coef="0.5"/></fixed>
  <spatial name="cord"><site site="hook"/><site site="eye"/></spatial></tendon>
<equality>
  <connect name="pin" body1="rod" body2="slider" anchor="0.2 0 0"/>
  <weld body1="p1" body2="p2" anchor="0.1 0 0.2"/>
  <weld body1="p2" body2="p3" relpose="0.1 0.3 0 1 0.2 0 0.3" anchor="0 0 .1" torquescale="0.3"/>
  <connect site1="grip" site2="nail"/>
  <joint joint1="e" joint2="d" polycoef="0.05 0.3 0.2 -0.1 0.05"/>
  <tendon tendon1="t1" tendon2="t2" polycoef="0.1 0.7 0 0 0"/>
  <tendon tendon1="cord" polycoef="0.05 0 0 0 0"/>
  <joint joint1="a" active="false"/>
</equality></mujoco>"""

ACTUATORS = """<mujoco model="actuators"><compiler angle="radian"/>
<worldbody>
  <body name="l1" pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.2" actuatorfrcrange="-2 3"/>
      <geom size="0.1" pos="0.3 0 0"/>
    <body name="l2" pos="0.5 0 0"><joint name="s" type="slide" axis="1 0 0"/><geom size="0.1" pos="0.1 0 0"/>
      <site name="tip" pos="0.1 0.2 0"/>
      <body name="l3" pos="0.5 0 0"><joint name="b" type="ball"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/></body>
    </body></body>
  <body name="m" pos="0 2 1"><joint name="h" axis="1 0 0"/><geom size="0.1" pos="0 0.2 0"/>
      <site name="eye" pos="0 0.3 0"/></body>
</worldbody>
<tendon>
  <fixed name="sum" stiffness="4" damping="0.3" springlength="0.3"><joint joint="s" coef="2"/>
      <joint joint="h" coef="-1"/></fixed>
  <fixed name="own" armature="0.5"><joint joint="h" coef="3"/></fixed>
  <spatial name="cord" stiffness="30" damping="0.5" springlength="0.4"><site site="tip"/><site site="eye"/></spatial>
</tendon>
<actuator>
  <motor name="gear" joint="a" gear="3" ctrllimited="true" ctrlrange="-1 1"/>
  <position name="servo" joint="s" kp="50" kv="2" forcelimited="true" forcerange="-8 8"/>
  <velocity name="speed" joint="h" kv="4"/>
  <motor name="twist" joint="b" gear="1 2 3"/>
  <general name="pull" tendon="sum" gear="2" gainprm="3" biastype="affine" biasprm="0.5 -2 -0.1"/>
  <motor name="rotor" joint="s" gear="2" armature="0.3" damping="0.4"/>
</actuator></mujoco>"""

FRICTION = """<mujoco model="friction"><compiler angle="radian"/><option gravity="0.3 -0.2 -9"/>
<worldbody>
  <body name="crank" pos="0 0 1" gravcomp="0.7"><joint name="a" axis="0 1 0" frictionloss="0.4"/>
    <geom type="box" size="0.2 0.1 0.05" mass="1"/>
    <body name="camera" pos="0.1 0 0.2" gravcomp="0.7"><geom size="0.05" mass="0.2"/></body>
    <body name="lamp" pos="0 0.3 0" gravcomp="-0.5"><geom size="0.05" mass="0.3"/></body>
    <body name="bolt" pos="0 0.3 0.1"><geom size="0.05" mass="0.1"/></body>
    <body name="rod" pos="0.4 0 0" gravcomp="1"><joint name="b" axis="0 1 0" pos="-0.2 0 0" actuatorgravcomp="true"/>
      <geom type="capsule" size="0.05 0.2" euler="0 1.57 0" mass="1"/></body></body>
  <body name="slider" pos="0.8 0 1"><joint name="c" type="slide" axis="1 0 0" frictionloss="2"/>
    <geom size="0.1" mass="1"/></body>
  <body name="bob" pos="0 2 1" gravcomp="0.2"><joint name="d" type="ball" frictionloss="0.3"/>
    <geom type="box" size="0.1 0.2 0.3" mass="1" pos="0.1 0 0.2"/></body>
  <body name="drop" pos="3 0 1" quat="1 1 0 0" gravcomp="1.5"><joint name="e" type="free" frictionloss="0.6"/>
    <geom type="box" size=".1 .2 .3" pos="0.1 0 0.1" mass="2"/></body>
</worldbody>
<tendon><fixed name="cable" frictionloss="0.5"><joint joint="c" coef="-3"/></fixed>
  <fixed name="own" frictionloss="0.5"><joint joint="b" coef="2"/></fixed></tendon>
<actuator><motor name="drive" joint="a"/></actuator>
<equality><connect name="pin" body1="rod" body2="slider" anchor="0.2 0 0"/></equality></mujoco>"""

FILES = {"joints": JOINTS, "equalities": EQUALITIES, "actuators": ACTUATORS, "friction": FRICTION}
