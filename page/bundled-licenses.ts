// A plugin that lists the licences of all bundled packages.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

/** Emits `licenses.txt` with the name, version and licence text of each package that a chunk contains modules of. */
export const bundledLicenses: Plugin = {
  name: 'bundled-licenses',
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
    // Modules without rendered code are not in the bundle, so their licences do not apply.
    const modules = chunks.flatMap(({ modules: parts }) => Object.keys(parts).filter((id) => parts[id]?.renderedLength))
    const folders = new Set(modules.map(packageFolderOf).filter((folder) => folder !== undefined))
    const texts = [...folders].sort().map(licenseOf)
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
  },
}

/** The folder of the package that a module belongs to; undefined for our own. */
function packageFolderOf(id: string): string | undefined {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]
}

function readPackage(folder: string): { name?: string; version?: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function licenseOf(folder: string): string {
  const { name, version, license } = readPackage(folder)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}\n\n${text}\n`
}
