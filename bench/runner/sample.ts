// Takes one sample of one side, in this process or in one of its own. A process of its own starts cold, as all sides do, and its peak
// memory is the side's.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadEntry, ownRoot } from './package.ts'
import type { AnyRow, Errand, Figures, Side, SizeName, World } from './row.ts'
import { sizeOf } from './row.ts'

/** A sample to be taken. JSON. */
export interface SampleOrder {
  row: string
  size: SizeName
  /** `prepare` stands for the preparation of the row. */
  side: string
  given: unknown
  prepared: string
  /** Where to load `errand` from: the root of a built checkout; null for the package by its name. */
  packageRoot: string | null
}

export interface SampleReport {
  figures: Figures
  notes: string[]
}

/** Another checkout runs the sides of errand under this name. */
export const baseSide = 'base'

/** Takes a sample here. */
export async function sampleHere(order: SampleOrder): Promise<SampleReport> {
  const row = await loadRow(order.row)
  const notes: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  const packageRoot = order.packageRoot ?? ownRoot
  const world: World = {
    folder,
    prepared: order.prepared,
    errand: () => loadEntry<Errand>(packageRoot, 'errand'),
    packageRoot,
    note: (text) => void notes.push(text),
  }
  try {
    if (order.side === 'prepare') {
      mkdirSync(order.prepared, { recursive: true })
      await row.prepare?.(sizeOf(row, order.size), world)
      return { figures: {}, notes }
    }
    const side = await loadSide(row, order.side)
    const figures = await side.measure(order.given as never, world)
    if ('peak' in row.figures) figures['peak'] ??= peakMemory()
    return { figures, notes }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The peak memory of this process in MB. On Linux `resourceUsage` begins with that of the parent, which is larger. */
function peakMemory(): number {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  return (kilobytes === undefined ? process.resourceUsage().maxRSS : Number(kilobytes)) / 1024
}

/** Only the file of the row: what a sample loads counts for its peak memory. */
async function loadRow(name: string): Promise<AnyRow> {
  const exports = (await import(`../rows/${name}.ts`)) as Record<string, AnyRow>
  const row = Object.values(exports).find((each) => each.name === name)
  if (row === undefined) throw new Error(`rows/${name}.ts exports no row of this name.`)
  return row
}

async function loadSide(row: AnyRow, name: string): Promise<Side<never>> {
  const own = row.sides[name === baseSide ? 'errand' : name]
  if (own !== undefined) return own
  const { peerSides } = await import('../peers/peers.ts')
  const side = peerSides(row.name)[name]
  if (side === undefined) throw new Error(`The row ${row.name} has no side ${name}.`)
  return side
}

/** Takes a sample in a process of its own. */
export async function sampleApart(order: SampleOrder): Promise<SampleReport> {
  const child = fork(join(import.meta.dirname, 'sample-process.ts'), [JSON.stringify(order)], {
    // Without it each process would hold the compiler that strips the types, 18 MB of its peak memory.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'errand-bench-compiled') },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)))
  let report: SampleReport | undefined
  child.on('message', (message) => (report = message as SampleReport))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (report === undefined) {
    throw new Error(`The side ${order.side} of the row ${order.row} ended with ${signal ?? code}:\n${stderr}`)
  }
  return report
}
