// How the tests run. The suite needs nothing but `npm ci`: the global setup builds dist when it is older than src.

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^errand$/, replacement: pathOf('src/index.ts') },
      { find: /^errand\/testing$/, replacement: pathOf('src/testing/index.ts') },
      { find: /^errand\/agent-os$/, replacement: pathOf('src/vocabularies/agent-os.ts') },
      { find: /^errand\/ai$/, replacement: pathOf('src/ai/durable.ts') },
      { find: /^errand\/exo$/, replacement: pathOf('src/vocabularies/exo.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['scripts/build.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: {
        lines: 80,
        branches: 75,
        'src/entities/**': { 100: true },
        'src/machines/**': { 100: true },
      },
    },
  },
})
