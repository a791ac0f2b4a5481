// The package as npm packs it, installed without a network: what a user gets, with the packages of the repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The names of the packages that npm installs with it, and of those that it names as optional peers. */
export const { dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Record<'dependencies' | 'peerDependencies', Record<string, string>>

/** Puts the package, which has been built, into node_modules of a folder, and links these packages beside it. */
export function installPacked(folder: string, packages: Iterable<string>): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'errand'), { recursive: true })
  const place = mkdtempSync(join(tmpdir(), 'errand-pack-'))
  try {
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', place], { cwd: root, stdio: 'ignore' })
    const archive = join(place, readdirSync(place)[0] as string)
    execFileSync('tar', ['-xzf', archive, '-C', join(modules, 'errand'), '--strip-components=1'])
  } finally {
    rmSync(place, { recursive: true })
  }
  for (const name of packages) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  mkdirSync(join(modules, '.bin'))
  symlinkSync('../errand/dist/bin.js', join(modules, '.bin/errand'))
}
