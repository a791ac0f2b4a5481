// A plugin that lists the licences of all bundled packages.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { Plugin } from 'vite'

/** Emits `licenses.txt` with the name, version and licence text of each package that a chunk contains modules of. */
export function bundledLicenses(root: string): Plugin {
  return {
    name: 'bundled-licenses',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
      // Modules without rendered code are not in the bundle, so their licences do not apply.
      const modules = chunks.flatMap(({ modules: parts }) =>
        Object.keys(parts).filter((id) => parts[id]?.renderedLength),
      )
      const folders = new Set(modules.map((id) => packageFolderOf(id, root)).filter((folder) => folder !== undefined))
      const texts = [...folders].sort().map(licenseOf)
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
    },
  }
}

/** The folder of the package that a module belongs to; undefined for our own. */
function packageFolderOf(id: string, root: string): string | undefined {
  if (!id.includes(`${sep}node_modules${sep}`)) return undefined
  for (let folder = dirname(id); folder.startsWith(root) && folder !== root; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && nameOf(folder) !== undefined) return folder
  }
  return undefined
}

function readPackage(folder: string): { name?: string; version?: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Undefined for a package.json without a version, which some packages have in subfolders. */
function nameOf(folder: string): string | undefined {
  const { name, version } = readPackage(folder)
  return version === undefined ? undefined : name
}

function licenseOf(folder: string): string {
  const { name, version, license } = readPackage(folder)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}\n\n${text}\n`
}
