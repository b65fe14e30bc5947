"""A model, an image source, a family of rules and a benchmark for fine."""
