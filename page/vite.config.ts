// Builds the page into one folder of hashed files with relative URLs, so that it can be served under any path, and adds the licences of
// bundled packages.

import { join } from 'node:path'
import { defineConfig } from 'vite'
import { bundledLicenses } from './bundled-licenses.ts'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  plugins: [bundledLicenses],
  // Preact's JSX runtime. Not its development form, which vite would choose in a process of tests: they use the page that is published.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: join(here, '../dist/page'),
    emptyOutDir: true,
    // The minimum versions for `light-dark()`.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
})
