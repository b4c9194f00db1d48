"""What ``claim-check reconcile`` is made of."""
