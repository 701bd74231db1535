"""Files that the code at commit e028f13 wrote, and what they answered then: later code reads them all."""
