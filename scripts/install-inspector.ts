// Installs the MCP inspector for the tests that use it. It is too large (112 MB) for a dependency of the package, so it has its own
// manifest and lock file, and is in node_modules/.cache, where imports do not find it.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const pinned = join(root, 'test/surfaces/mcp/inspector')
const home = join(root, 'node_modules/.cache/errand-inspector')
const files = ['package.json', 'package-lock.json']

/** Returns the path of the inspector's command line. Installs it if it is missing or differs from the lock file. */
export function installInspector(): string {
  if (!isUpToDate()) install()
  return join(home, 'node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js')
}

function isUpToDate(): boolean {
  return (
    existsSync(join(home, 'node_modules')) &&
    files.every((file) => {
      const copy = join(home, file)
      return existsSync(copy) && readFileSync(copy, 'utf8') === readFileSync(join(pinned, file), 'utf8')
    })
  )
}

/** Installs into a temporary folder and renames it, so that an interrupted installation is not used. */
function install(): void {
  const building = `${home}.${process.pid}`
  mkdirSync(building, { recursive: true })
  for (const file of files) cpSync(join(pinned, file), join(building, file))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: building,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  rmSync(home, { recursive: true, force: true })
  renameSync(building, home)
}

if (import.meta.main) console.log(installInspector())
