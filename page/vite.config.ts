// Builds the page into one folder of hashed files with relative URLs, so that it can be served under any path, and adds the licences of
// bundled packages.

import { join } from 'node:path'
import { defineConfig } from 'vite'
import { publishedAs, taskEdges } from '../src/machines/task-table.ts'
import { bundledLicenses } from './bundled-licenses.ts'

const here = import.meta.dirname

/** The page gets the table of a task as data: deriving it needs XState. */
const tableAsData = {
  name: 'task-table-as-data',
  load: (id: string) =>
    id.endsWith('/src/machines/task-table.ts')
      ? `export const taskEdges = ${JSON.stringify(taskEdges)}\nexport const publishedAs = ${JSON.stringify(publishedAs)}`
      : undefined,
}

export default defineConfig({
  root: here,
  base: './',
  publicDir: false,
  logLevel: 'warn',
  plugins: [bundledLicenses, tableAsData],
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
