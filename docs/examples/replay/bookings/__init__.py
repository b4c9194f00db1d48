"""Everything that Lambda needs of ours."""
