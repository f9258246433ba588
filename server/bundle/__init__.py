"""Signed bundles: one manifest, one signature and one check for everything that leaves a site."""
