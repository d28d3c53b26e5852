"""Systems as pictures: boxes for components, arrows for connections."""
