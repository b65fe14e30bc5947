"""The models the paper compares FINE with, one file each."""
