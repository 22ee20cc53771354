"""The papers' experiments at small scale. Each is a list of arms and a scale: ablations of BERT (Devlin et al. 2019,
§5) in `catalogue`, fine-tuning settings in `comparisons`, claims of BERT's relatives in `relative_catalogue`. How an
arm is run say `run`, `compare` and `relatives`; the `runner` runs all arms, resumes, and records their results
(`records`). What these say is read by `results`; what a few seeds can tell, by `seeds`."""
