"""Dead letters: look at them, judge them, send them back to work (R9). Pure but for `desk`, which meets AWS."""
