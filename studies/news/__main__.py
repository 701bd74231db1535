from studies.command import main
from studies.news.study import STUDY

main(STUDY)
