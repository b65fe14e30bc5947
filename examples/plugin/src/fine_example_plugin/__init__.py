"""A model, an image source and a family of rules for fine."""
