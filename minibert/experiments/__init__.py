"""The paper's ablations in small (Devlin et al. 2019, §5): what is compared (`catalogue`), the text (`corpus`), an
arm's `pretraining` and `finetuning`, how all of it is run (`run`), or one arm in seconds (`toy_run`), what comes out
(`records`) and whether the paper's direction is among it (`results`). Settings of fine-tuning alone: what is compared
(`comparisons`), how it is run (`compare`), and what a few seeds can tell (`seeds`)."""
