// Finds a Chromium for the tests that look at the page, and on Debian and its kin installs one when there is none. Playwright's own
// browsers are downloaded from elsewhere; the system's comes with its packages.
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const defaultPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of a Chromium: that in CHROMIUM, else where systems put it, else a new one out of Debian's packages. */
export function installChromium(): string {
  const given = process.env['CHROMIUM']
  if (given !== undefined && given !== '') return given
  return found() ?? install()
}

function found(): string | undefined {
  return defaultPlaces.find((place) => existsSync(place))
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
    run('apt-get', 'install', '-y', '-q', '--no-install-recommends', 'chromium')
  } catch (error) {
    throw new Error(
      'The tests of the page need Chromium, and apt-get could not install it. Install it, or say where it is: CHROMIUM=/path/to/chrome',
      { cause: error },
    )
  }
  const installed = found()
  if (installed === undefined) throw new Error('apt-get installed the package chromium, and there is no chromium')
  return installed
}

if (import.meta.main) console.log(installChromium())
