"""Mechanisms and runs to look at: one offline HTML page with a 3-D scene, plots and, for a mechanism, the simulator."""

# What this folder implements, by the declaration.
IMPLEMENTS = {
    "linkwork.cosim.recording.result.Result._page_part": "linkwork.view.cosim_run.part_of_cosim",
    "linkwork.fmu.export.pictures.live_page": "linkwork.view.live.live_page",
    "linkwork.fmu.export.pictures.scene": "linkwork.view.scene_file.scene_file",
    "linkwork.mechanism.mechanism.Mechanism._page_part": "linkwork.view.live.part_of_mechanism",
    "linkwork.mechanism.mechanism.Mechanism._repr_html_": "linkwork.view.notebook.frame",
    "linkwork.mechanism.mechanism.Mechanism.page": "linkwork.view.live.page_of_mechanism",
    "linkwork.model.model.Model._page_part": "linkwork.view.live.live_part",
    "linkwork.model.model.Model._repr_html_": "linkwork.view.notebook.frame",
    "linkwork.model.model.Model.page": "linkwork.view.page.page_of",
    "linkwork.results.in_time.TimeResult._repr_html_": "linkwork.view.notebook.frame_and_table",
    "linkwork.results.in_time.TimeResult.page": "linkwork.view.page.page_of_result",
    "linkwork.simulation.result.Result._page_part": "linkwork.view.simulated_run.part_of_result",
    "linkwork.simulation.result.Result.film": "linkwork.view.film.write_film",
    "linkwork.simulation.result.Result.glb": "linkwork.view.gltf.write_glb",
}
