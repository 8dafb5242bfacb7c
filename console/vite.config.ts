import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compress } from './plugins/compress.ts';
import { kitStrings } from './plugins/kit-strings.ts';

export default defineConfig({
  base: '/console/',
  plugins: [react(), kitStrings(), compress()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: { proxy: { '/console/api': { target: process.env.DASTAK_URL ?? 'http://127.0.0.1:8080' } } },
});
