from studies.command import main
from studies.records.study import STUDY

main(STUDY)
