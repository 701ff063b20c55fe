"""The crawlers Forager is compared with, each the main module of a process of its own. They need the `peers` group."""
