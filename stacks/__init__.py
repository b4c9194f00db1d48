"""Stacks: which constructs, wired how, with which settings; no resource of their own."""
