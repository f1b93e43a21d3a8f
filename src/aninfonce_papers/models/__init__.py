"""Networks and baselines that only the papers need."""
