#!/usr/bin/env node
// The `errand` program. Checks the version of Node before it loads the engine: on a Node that is too old, the SQLite
// binding crashes the process without a message. Hence the plain syntax here, and the dynamic import.
import { existsSync, statSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const requiredNapi = 10

if (Number(process.versions['napi']) >= requiredNapi) {
  keepCompiledCode()
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

/**
 * Lets Node keep the compiled modules for the next start, in a folder that only this user may write: what is in it is executed. The folder
 * that Node would choose lies in the temporary one of all users. NODE_COMPILE_CACHE names another, NODE_DISABLE_COMPILE_CACHE=1 keeps none;
 * where the folder cannot be written, or belongs to another user (`sudo` may keep their HOME), nothing is kept.
 */
function keepCompiledCode(): void {
  try {
    const cache = process.env['XDG_CACHE_HOME'] ?? ''
    const [owned, folder] = isAbsolute(cache) ? [cache, cache] : [homedir(), join(homedir(), '.cache')]
    const user = process.getuid?.()
    if (user === undefined || statSync(owned).uid === user) module.enableCompileCache(join(folder, 'errand'))
  } catch {
    // A user that the system does not list has no home, and a folder may not exist.
  }
}

/** The Node that npm installs for the development of this package, if it exists. */
function newerNode(): string | undefined {
  const root = dirname(createRequire(import.meta.url).resolve('errand/package.json'))
  return [join(root, 'node_modules', '.bin', 'node'), join(root, '..', '.bin', 'node')].find((path) => existsSync(path))
}
