// Installs peers with npm in a folder of their own outside the package, and loads them from there.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Peer } from '../runner/row.ts'

const defaultFolder = process.env.BENCH_PEERS ?? join(tmpdir(), 'errand-bench-peers')
const loaderIn = (folder: string): string => join(folder, 'load.mjs')

/** @param folder Of these peers alone. */
export function installPeers(peers: ReadonlyArray<Pick<Peer, 'packages'>>, folder = defaultFolder): void {
  const loader = loaderIn(folder)
  const dependencies: Record<string, string> = Object.assign({}, ...peers.map((peer) => peer.packages))
  // One better-sqlite3 for all that use it.
  const overrides = { 'better-sqlite3': dependencies['better-sqlite3'] }
  const manifest = `${JSON.stringify({ private: true, type: 'module', dependencies, overrides }, null, 2)}\n`
  const file = join(folder, 'package.json')
  if (existsSync(loader) && readFileSync(file, 'utf8') === manifest) return
  console.log(`installing ${Object.keys(dependencies).join(', ')} in ${folder}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, manifest)
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`npm install failed in ${folder}`)
  // An import in this file is resolved from this folder.
  writeFileSync(loader, 'export default (name) => import(name)\n')
}

/** Imports a package of a peer. `M`: the part of it that is used. */
export async function loadPeer<M>(name: string, folder = defaultFolder): Promise<M> {
  const { default: load } = (await import(pathToFileURL(loaderIn(folder)).href)) as {
    default: (name: string) => Promise<M>
  }
  return load(name)
}
