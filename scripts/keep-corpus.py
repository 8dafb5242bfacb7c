"""Keeps of a minimised corpus what fits into the repository: keep-corpus.py FROM TO. The seeds stay, then the smallest files, up to 150 kB and 400 files."""
import hashlib
import pathlib
import sys

MOST_BYTES, MOST_FILES = 150_000, 400

source, kept = (pathlib.Path(argument) for argument in sys.argv[1:3])
files = {path.read_bytes() for path in source.iterdir() if path.is_file()}
seeds = {path.name: path.read_bytes() for path in kept.glob("seed_*")} | {path.name: path.read_bytes() for path in kept.glob("found_*")}
for path in kept.iterdir():
    if path.name not in seeds:
        path.unlink()
size, count = sum(map(len, seeds.values())), len(seeds)
for content in sorted(files - set(seeds.values()), key=lambda content: (len(content), content)):
    if size + len(content) > MOST_BYTES or count == MOST_FILES:
        break
    (kept / hashlib.sha1(content).hexdigest()[:16]).write_bytes(content)
    size, count = size + len(content), count + 1
print(f"{kept}: {count} files, {size} bytes")
