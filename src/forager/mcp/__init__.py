"""The server for programs that speak MCP, the Model Context Protocol: what was crawled as tools for models."""
