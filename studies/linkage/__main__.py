from studies.command import main
from studies.linkage.study import STUDY

main(STUDY)
