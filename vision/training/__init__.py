"""Training code: renders, trains, calibrates and exports the networks."""
