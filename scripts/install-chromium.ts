// Finds a Chromium for the browser tests of the page. On Debian-based systems it installs a missing one with apt-get, because
// Playwright would download its browsers from another server.
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const defaultPaths = [
  // Opens a page in half the time of the whole browser.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Returns the path of a Chromium: CHROMIUM, else a default path, else a newly installed one. */
export function installChromium(): string {
  const given = process.env['CHROMIUM']
  if (given !== undefined && given !== '') return given
  return found() ?? install()
}

function found(): string | undefined {
  return defaultPaths.find((path) => existsSync(path))
}

function install(): string {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options: ExecFileSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] }
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const run = (...command: string[]) => {
    const [program = '', ...args] = [...sudo, ...command]
    execFileSync(program, args, options)
  }
  try {
    run('apt-get', 'update', '-q')
    // Not every distribution has the shell alone.
    const has = (name: string) => execFileSync('apt-cache', ['search', '--names-only', `^${name}$`]).length > 0
    const chromium = has('chromium-headless-shell') ? 'chromium-headless-shell' : 'chromium'
    run('apt-get', 'install', '-y', '-q', '--no-install-recommends', chromium)
  } catch (error) {
    throw new Error(
      'The tests of the page need Chromium, and apt-get could not install it. Install it, or set its path: CHROMIUM=/path/to/chrome',
      { cause: error },
    )
  }
  const installed = found()
  if (installed === undefined) throw new Error('apt-get installed a package of Chromium, but no Chromium was found.')
  return installed
}

if (import.meta.main) console.log(installChromium())
