#!/usr/bin/env node
// The `errand` program. Checks the version of Node before it loads the engine: on a Node that is too old, the SQLite
// binding crashes the process without a message. Hence the plain syntax here, and the dynamic import.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const requiredNapi = 10

if (Number(process.versions['napi']) >= requiredNapi) {
  const { launch } = await import('./launch.ts')
  await launch()
} else {
  const found = `Node ${process.versions.node} (N-API ${process.versions['napi']})`
  const newer = newerNode()
  const help =
    newer === undefined
      ? 'Install a newer Node, for example from https://nodejs.org.'
      : `A newer Node is installed beside this package: ${newer}`
  console.error(`errand needs Node 22.14 or newer (N-API ${requiredNapi}), and this is ${found}. ${help}`)
  process.exitCode = 2
}

/** The Node that npm installs for the development of this package, if it exists. */
function newerNode(): string | undefined {
  const root = dirname(createRequire(import.meta.url).resolve('errand/package.json'))
  return [join(root, 'node_modules', '.bin', 'node'), join(root, '..', '.bin', 'node')].find((path) => existsSync(path))
}
