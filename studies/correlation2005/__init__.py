"""Supervised correlation clustering: Tables 3.1 to 3.5 and Figure 3.3 of the dissertation."""
