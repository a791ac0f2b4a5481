// How the page is built: one folder of hashed files with relative addresses, so that any path may serve it, and the licences of
// what is bundled beside them.

import { join } from 'node:path'
import { defineConfig } from 'vite'
import { bundledLicenses } from './bundled-licenses.ts'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  plugins: [bundledLicenses(join(here, '..'))],
  // Preact's own runtime of JSX.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(here, '../dist/page'),
    emptyOutDir: true,
    // `light-dark()` is what the style sheet needs most.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // The transition table stands beside a chart that only the engine needs: making that has no effect.
      treeshake: { manualPureFunctions: ['setup'] },
    },
  },
})
