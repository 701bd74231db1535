from studies.command import main
from studies.kmeans2008.study import STUDY

main(STUDY)
