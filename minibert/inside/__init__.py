"""What looks into a model: heads, blocks, vectors, probes, attributions, interventions."""
