// Lays a .gz and a .br beside each file of the build that a browser asks for; fonts are compressed already.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const PACKED = /\.(js|css|svg|html|json|txt)$/;
const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

async function pack(path: string): Promise<void> {
  const plain = await readFile(path);
  await Promise.all([
    toGzip(plain, { level: 9 }).then((packed) => writeFile(`${path}.gz`, packed)),
    toBrotli(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }).then((packed) => writeFile(`${path}.br`, packed)),
  ]);
}

export function compress(): Plugin {
  let out = 'dist';
  return {
    name: 'compress',
    apply: 'build',
    configResolved(config) { out = resolve(config.root, config.build.outDir); },
    async closeBundle() {
      const names = await readdir(out, { recursive: true });
      await Promise.all(names.filter((name) => PACKED.test(name)).map((name) => pack(join(out, name))));
    },
  };
}
