// Walks README.md, the pages of docs/start and docs/guides/bundlers.md as a new user does: each in an empty folder, with the package as npm packs it. A block
// with the name of a file is saved, a block `sh` is run as it stands, and the block `text` below it is its output. A block `sh clone` is
// for a clone of the repository; one `sh running` runs until it has printed the block below it. What a block leaves running is ended with
// the walk. A server at port 3000 gets a free port instead, so that walks do not meet. The Node is that of this process.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { blocksIn, type GuideBlock, outputPattern } from './guide-blocks.ts'
import { dependencies, installPacked } from './packed-package.ts'

const root = join(import.meta.dirname, '..')

export const guides: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs/start')).map((name) => `docs/start/${name}`),
  'docs/guides/bundlers.md',
]

/** What a guide installs besides the package. */
const bundlers = ['esbuild', 'rolldown', 'webpack']

export interface WalkOptions {
  /** The Node that runs everything. Default: that of this process. */
  node?: string
  /** Unpacks the package and links its dependencies, in place of each `npm install`, so that no network is needed. Default false. */
  offline?: boolean
}

/** Walks one guide in a folder of its own. Throws at the first command that fails or prints something else than is shown. */
export async function walkGuide(
  guide: string,
  { node = process.execPath, offline = false }: WalkOptions = {},
): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'errand-guide-'))
  const folder = join(place, 'project')
  let begun: Walk | undefined
  try {
    mkdirSync(folder)
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', place], { cwd: root, stdio: 'ignore' })
    // The first `node` of the path is that of the walk, for npm and npx too.
    mkdirSync(join(place, 'bin'))
    symlinkSync(node, join(place, 'bin/node'))
    if (offline) {
      installPacked(folder, [...Object.keys(dependencies), ...bundlers])
      // Nothing is left to do for it.
      writeFileSync(join(place, 'bin/npm'), '#!/bin/sh\n', { mode: 0o755 })
    }
    const env = {
      ...process.env,
      PATH: [join(place, 'bin'), process.env['PATH']].join(delimiter),
      XDG_STATE_HOME: place,
      NO_COLOR: '1',
    }
    const walk = { guide, place, folder, env, port: await freePort(), groups: [] }
    begun = walk
    const blocks = blocksIn(readFileSync(join(root, guide), 'utf8'))
    for (const [index, block] of blocks.entries()) await follow(block, blocks[index + 1], walk)
  } finally {
    for (const group of begun?.groups ?? []) endGroup(group)
    rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

interface Walk {
  guide: string
  /** Holds the packed package and, below it, the project. */
  place: string
  folder: string
  env: NodeJS.ProcessEnv
  /** Of the server that the guide has at 3000. */
  port: number
  /** The process groups of its blocks. */
  groups: number[]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function follow(block: GuideBlock, next: GuideBlock | undefined, walk: Walk): Promise<void> {
  if (block.language !== 'sh') {
    if (block.label !== '') writeFileSync(join(walk.folder, block.label), withPort(block.text, walk))
    return
  }
  if (block.label === 'clone') return
  const shown = next?.language === 'text' ? outputPattern(next.text) : undefined
  const commands = withPort(block.text.replaceAll('…/errand', `${walk.place}/errand`), walk)
  const { code, out, err } = await run(commands, block.label === 'running' ? shown : undefined, walk)
  const fits = shown === undefined || shown.test(out)
  if (code !== 0 || !fits) {
    throw new Error(
      `${walk.guide}: ${fits ? `exit code ${code}` : 'other output'} of\n${block.text}\nwhich printed\n${out}${err}`,
    )
  }
}

const withPort = (text: string, { port }: Walk) => text.replaceAll(/\b3000\b/g, String(port))

/** Runs commands to their end, or until they have printed `until`. */
function run(
  commands: string,
  until: RegExp | undefined,
  { folder, env, groups }: Walk,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  groups.push(child.pid as number)
  let out = ''
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  let isInterrupted = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    if (until?.test(out) !== true || isInterrupted) return
    isInterrupted = true
    process.kill(-(child.pid as number), 'SIGINT')
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: isInterrupted ? 0 : code, out, err })))
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { node: { type: 'string' } } })
  for (const guide of guides) {
    await walkGuide(guide, values.node === undefined ? {} : { node: values.node })
    console.log(`${guide}: every command did what is written`)
  }
}
