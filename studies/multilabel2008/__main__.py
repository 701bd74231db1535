from studies.command import main
from studies.multilabel2008.study import STUDY

main(STUDY)
