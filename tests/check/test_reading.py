"""A model description read in the words of both versions."""

from xml.etree import ElementTree

from linkwork.fmu.description import Description

ARRAYS = """
<fmiModelDescription fmiVersion="3.0" instantiationToken="t">
  <ModelExchange modelIdentifier="m"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <UInt64 name="n" valueReference="1" causality="structuralParameter" start="3"/>
    <Float64 name="x" valueReference="2" initial="exact" start="1 2 3 4 5 6">
      <Dimension valueReference="1"/><Dimension start="2"/>
    </Float64>
    <Float64 name="dx" valueReference="3" derivative="2"><Dimension valueReference="1"/><Dimension start="2"/></Float64>
    <Float64 name="y" valueReference="4" initial="exact" start="0"/>
    <Float64 name="dy" valueReference="5" derivative="4"/>
    <Float64 name="z" valueReference="6"><Dimension start="4"/><Alias name="w" displayUnit="u"/></Float64>
    <Float64 name="k" valueReference="7" causality="parameter" start="1"/>
  </ModelVariables>
  <ModelStructure>
    <ContinuousStateDerivative valueReference="3"/><ContinuousStateDerivative valueReference="5"/>
    <EventIndicator valueReference="6" dependencies=""/>
  </ModelStructure>
</fmiModelDescription>
"""


def test_arrays_count_with_all_their_elements():
    one = Description(ElementTree.fromstring(ARRAYS))
    assert [state.name for state in one.states] == ["x", "y"]
    assert one.n_states == 7
    assert one.n_indicators == 4


def test_defaults_are_those_of_the_standard():
    one = Description(ElementTree.fromstring(ARRAYS))
    found = {v.name: (v.causality, v.variability, v.initial) for v in one.variables}
    assert found["time"] == ("independent", "continuous", None)
    assert found["n"] == ("structuralParameter", "fixed", "exact")
    assert found["k"] == ("parameter", "fixed", "exact")
    assert found["z"] == ("local", "continuous", "calculated")
    assert one.variables[6].aliases == [("w", "u", None)]


def test_no_dependencies_differ_from_unknown_ones():
    one = Description(ElementTree.fromstring(ARRAYS))
    assert one.unknowns("indicator")[0].dependencies == []
    assert one.unknowns("derivative")[0].dependencies is None
