from studies.command import main
from studies.universum2011.study import STUDY

main(STUDY)
