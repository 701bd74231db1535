"""Document clustering with Universum (Zhang, Wang and Si, SIGIR 2011): Tables 3 to 6 and Figures 1 to 4."""
