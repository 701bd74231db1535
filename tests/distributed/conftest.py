"""One cluster of two worker processes for all tests here."""

import pytest

pytest.importorskip("distributed", reason="needs Dask: pip install 'clustruct[dask]'")


@pytest.fixture(scope="package")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
        yield made


@pytest.fixture(scope="package")
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        yield made
