"""The operator's command ``claim-check`` and the embedded AWS that tests and demonstrations run against."""
