"""The part of the documentation page that all mechanisms share: equations, use, conventions."""

EQUATIONS = """<h2>Equations</h2>
<p>The continuous states are the coordinates <i>q</i> and the speeds <i>u</i> of all joints of the spanning tree,
which is
the mechanism with its cut joints open. The FMU integrates</p>
<p class="eq">q&#775; = N(q) (u* − γ Y<sup>+</sup> Φ(q, t))</p>
<p class="eq">u&#775; = a − α (u − u*), &#8195; u* = u − Y<sup>+</sup> (Y u − c)</p>
<p>in which the accelerations <i>a</i> are those of the equations of motion with the loops closed,</p>
<p class="eq">M(q) a + h(q, u, t) = τ + Y<sup>T</sup> λ, &#8195; Y a = b</p>
<p class="eq">Φ(q, t) = 0</p>
<dl>
<dt>M, h</dt><dd>mass matrix of the tree; Coriolis and centrifugal terms, gravity, springs, dampers, applied
wrenches, actuators</dd>
<dt>τ</dt><dd>the loads in the joints, inputs such as <code>A.tau</code></dd>
<dt>Φ</dt><dd>violation of the constraints of loops, couplings, distances and prescribed motions; zero where they are
satisfied</dd>
<dt>Y, c, b</dt><dd>the derivative of Φ by the motion of the joints, Y u = c of the speeds and Y a = b of the
accelerations; c and b hold what prescribed motions and the present speeds demand</dd>
<dt>λ</dt><dd>the loads in the closures, from which the reactions in all joints follow</dd>
<dt>N</dt><dd>takes speeds to the rates of coordinates: one, but for quaternions, where
Q&#775; = ½ Q [0, ω] + (1 − |Q|²) Q keeps the length at one</dd>
<dt>γ, α</dt><dd>feedback of positions and speeds, <code>loop_gain.position</code> and <code>loop_gain.speed</code> in
1/s:
below zero they follow the mechanism's own speed, max(0.1, |u|). They only bring back to Φ = 0 what a solver's errors
have led astray: on closed loops both terms are zero, so that they change no motion. The gap that is left is
<code>loop.X.residual</code>, X the cut joint.</dd>
</dl>
<p>The tree is solved recursively, in a time that grows linearly with the number of bodies. Loops that share joints form
a cluster, solved together: its time grows linearly with its loops, and faster with its degrees of freedom where many of
them move the same links. Without loops, couplings and distances there are no Φ, λ and feedback.</p>"""

USE = """<h2>Use</h2>
<dl>
<dt>Start</dt><dd>Start values <code>A.q_start</code>, <code>A.u_start</code> are guesses: initialisation closes the
loops, keeps first the values set by the importer, then those that the mechanism gives, and finds the others. Where a
loop cannot be closed, initialisation fails, and the log names the joint and the gap.</dd>
<dt>Parameters</dt><dd>Those declared tunable may be changed while the simulation runs, at events or between steps of
Co-Simulation; those declared fixed, and start values, until initialisation ends.</dd>
<dt>Model Exchange</dt><dd>Any solver of ordinary differential equations will do; no projection is needed. Loops stay
closed
as well as the tolerance is tight.</dd>
<dt>Co-Simulation</dt><dd>The FMU integrates with a step size of its own. Parameter <code>solver</code> chooses the
method,
<code>dopri5</code>, for stiff mechanisms <code>rodas5p</code>, or <code>auto</code>, which
chooses by need; <code>tolerance</code> is relative and absolute, the latter by the sizes of the mechanism, and where
it is 0 that of the importer serves, else 1e-7. The communication step does not change the result.</dd>
<dt>Failures</dt><dd>Values that are not finite, and calls in a wrong mode, are errors; a pose in which accelerations
are not
unique is discarded, and a shorter step may succeed. The log gives the reason.</dd>
</dl>"""

CONVENTIONS = """<h2>Conventions</h2>
<ul>
<li>SI units, angles in rad. Right-handed axes; the world is called ground. The acceleration of free fall is
<code>gravity[1..3]</code> in world axes.</li>
<li>Coordinates and speeds of a joint are of its child relative to its parent: angles and displacements along its
axis,
right-handed.</li>
<li>Orientations are unit quaternions [w, x, y, z], body to world; Q and −Q are the same.</li>
<li><code>B.r</code>, <code>B.Q</code>, <code>B.v</code>, <code>B.w</code>: position, orientation, velocity and
angular velocity of
the frame of body B, world axes.</li>
<li><code>A.f</code>, <code>A.t</code>: force and torque of joint A on its child about the origin of the joint's frame
there, world
axes; they include the driving load.</li>
<li><code>A.tau</code> drives the child forwards and the parent backwards. A spring between points pulls where its
force is
positive.</li>
<li>Inertias are about the centre of mass, in body axes.</li>
</ul>"""
