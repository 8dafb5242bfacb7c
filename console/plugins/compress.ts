// Lays a .gz and a .br beside each file of the build that a browser asks for; fonts are compressed already.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const PACKED = /\.(js|css|svg|html|json|txt)$/;

function* files(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else if (PACKED.test(name)) yield path;
  }
}

export function compress(): Plugin {
  let out = 'dist';
  return {
    name: 'compress',
    apply: 'build',
    configResolved(config) { out = resolve(config.root, config.build.outDir); },
    closeBundle() {
      for (const path of files(out)) {
        const plain = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(plain, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }));
      }
    },
  };
}
