"""The same work on many machines: what it costs beside one process, whether it survives, how far it carries.

    python -m benchmarks.distributed training       bytes and speed of rounds at two workers
    python -m benchmarks.distributed table --rows 1e5   a table of the tables benchmark, and one process
    python -m benchmarks.distributed kills --runs 20    a worker killed at a random moment of a random stage
    python -m benchmarks.distributed skewed         one term in every row, one cluster of 5,000
    python -m benchmarks.distributed memory         a partition, and sets, that a worker cannot hold
    python -m benchmarks.distributed carry          the costs measured, carried to 10^8 and 10^9 rows
    python -m benchmarks.distributed render         all kept figures as Markdown

Figures go to benchmarks/distributed/figures, one JSON file each.
"""
