// Installs the MCP inspector for the tests that drive it. It is too large (112 MB) to be a dependency of the package, so it has a
// manifest and a lock file of its own and lies in node_modules/.cache, where nobody's `import` finds it.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const pinned = join(root, 'test/surfaces/mcp/inspector')
const home = join(root, 'node_modules/.cache/errand-inspector')
const files = ['package.json', 'package-lock.json']

/** The path of the inspector's command line; installs it first when it is missing, or is another than the lock file says. */
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

/** Beside its place and then moved there: what was broken off half-way is never taken for whole. */
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
