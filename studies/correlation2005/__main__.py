from studies.command import main
from studies.correlation2005.study import STUDY

main(STUDY)
