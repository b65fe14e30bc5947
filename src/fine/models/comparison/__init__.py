"""The models the paper compares FINE with, and models since, one file each."""
