"""Makes the generated core of both SDKs of openapi.json.

A generator of our own, because none that is kept names methods by `x-command`, leaves sets of words open, and writes both
languages with pages, uploads and downloads as the thin layer by hand wants them.
"""
