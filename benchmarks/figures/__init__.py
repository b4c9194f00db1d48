"""One module per group of figures; each has one function that measures it on a `benchmarks.stand.Stand`."""
