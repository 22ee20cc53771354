"""The paper's ablations in small (Devlin et al. 2019, §5): what is compared (`catalogue`), how it is run (`run`), what
comes out and whether the paper's direction is among it (`results`). Settings of fine-tuning alone: what is compared
(`comparisons`), how it is run (`compare`), and what a few seeds can tell (`seeds`)."""
