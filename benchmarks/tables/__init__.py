"""One large table, a few labelled clusters: clustruct beside splink and dedupe, and the real tables.

``.venv-bench/bin/python -m benchmarks.tables made``  tables made up here, three tools on each
``.venv-bench/bin/python -m benchmarks.tables real``  the tables of CLUSTRUCT_DATA, each as one table
``.venv-bench/bin/python -m benchmarks.tables write`` a made-up table as a file, and nothing else
``.venv-bench/bin/python -m benchmarks.tables draw``  cost against rows as a picture, from kept figures
"""
