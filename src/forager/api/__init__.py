"""The door for programs and the dashboard: HTTP in, `control` asked, JSON out. Decides nothing `control` decides."""
