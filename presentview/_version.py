"""The version, apart from the package so that every module can import it."""

__version__ = "0.1.0"
