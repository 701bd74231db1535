from studies.command import main
from studies.segmentation.study import STUDY

main(STUDY)
