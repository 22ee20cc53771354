"""The paper's ablations in small (Devlin et al. 2019, §5): what is compared (`catalogue`), how it is run (`run`), what
comes out and whether the paper's direction is among it (`results`)."""
