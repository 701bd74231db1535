"""clustruct: learn how to group things from examples."""
