"""The paper's ablations at small scale (Devlin et al. 2019, §5): the arms (`catalogue`), the text (`corpus`),
`pretraining` and `finetuning` of an arm, running all arms (`run`) or one of them in a minute or two (`toy_run`), the
file of results (`records`) and whether they agree with the paper (`results`). For fine-tuning settings alone: the
comparisons (`comparisons`), running them (`compare`), and what a few seeds can tell (`seeds`)."""
