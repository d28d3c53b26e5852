"""Pictures: plots of columns, mechanisms, block diagrams."""

# What this folder implements, by the declaration.
IMPLEMENTS = {
    "linkwork._util.picture.rendered": "linkwork.draw.raster.rendered",
    "linkwork.analysis.design.Design.plot": "linkwork.draw.analysis_plots.plot_design",
    "linkwork.analysis.identify.Identification.plot": "linkwork.draw.analysis_plots.plot_residuals",
    "linkwork.analysis.kinematic_result.KinematicResult.plot": "linkwork.draw.analysis_plots.plot_kinematics",
    "linkwork.analysis.motor_loads.MotorLoads.plot_envelope": "linkwork.draw.analysis_plots.plot_envelopes",
    "linkwork.analysis.workspace.Workspace.plot": "linkwork.draw.maps.plot_workspace",
    "linkwork.comparison.comparison.Comparison.plot": "linkwork.draw.work_precision.plot_work_precision",
    "linkwork.cosim.sweep.result.SweepResult.plot": "linkwork.draw.sweep_plot.plot_points",
    "linkwork.cosim.system.system.System.draw": "linkwork.draw.block_diagram.draw_system",
    "linkwork.fmu.export.pictures.icon": "linkwork.draw.mechanism_picture.icon",
    "linkwork.fmu.export.pictures.icon_pixels": "linkwork.draw.raster.squared",
    "linkwork.fmu.export.pictures.picture": "linkwork.draw.mechanism_picture.picture",
    "linkwork.mechanism.mechanism.Mechanism.draw": "linkwork.draw.mechanism_picture.draw_mechanism",
    "linkwork.model.model.Model.draw": "linkwork.draw.mechanism_picture.draw",
    "linkwork.results.in_time.TimeResult.plot": "linkwork.draw.result_plot.plot_result",
}
