"""Adapters: the ports of `claim_check.ports` on AWS."""
