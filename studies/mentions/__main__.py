from studies.command import main
from studies.mentions.study import STUDY

main(STUDY)
