def files(document, version): return {}
