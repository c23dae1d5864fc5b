"""`presentview demo`: a scripted agent, recorded by the real recorder and shown live."""

from __future__ import annotations

from presentview.demo.run import run_demo

__all__ = ["run_demo"]
