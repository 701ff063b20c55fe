"""Search over pages and products, and near-duplicates."""
