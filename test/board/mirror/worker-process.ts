// A client of the ledger with its own mirror on a shared folder: changes tasks through the abilities of the board, and checks at each
// change whether its previous one is still there.
import { createFolderFiles } from '../../../src/board/mirror/folder-files.ts'
import { openMirror } from '../../../src/board/mirror/mirror-board.ts'
import { mirrorHostOf } from '../../../src/board/mirror/mirror-host.ts'
import type { MirrorReport } from '../../../src/board/mirror/mirror-report.ts'
import { createEngine } from '../../../src/index.ts'
import { type Fault, plantInFiles, plantInHost } from './planted-faults.ts'

export interface WorkerOrders {
  ledger: string
  dir: string
  worker: number
  tasks: number[]
  /** Milliseconds between two changes. */
  pause: number
  fault?: Fault | undefined
}

export interface WorkerReport {
  changes: number
  last: Record<number, number>
  /** Changes that were missing at the next check. */
  undone: string[]
  errors: string[]
  refused: MirrorReport['refused']
  skipped: MirrorReport['skipped']
  written: number
  /** Whether its mirror has written before the first one closed: another may take over then. */
  isWriter: boolean
  imported: number
}

const { ledger, dir, worker, tasks, pause, fault } = JSON.parse(process.argv[2] as string) as WorkerOrders
const key = `worker${worker}`
const report: WorkerReport = {
  changes: 0,
  last: {},
  undone: [],
  errors: [],
  refused: [],
  skipped: [],
  written: 0,
  isWriter: false,
  imported: 0,
}

function note({ refused, skipped, written, imported }: MirrorReport): void {
  report.refused.push(...refused)
  report.skipped.push(...skipped)
  report.written += written.length
  report.imported += imported.length
}

const engine = await createEngine({ ledger, work: false, onError: (error) => report.errors.push(String(error)) })
const host = plantInHost(mirrorHostOf(engine, 'the test'), fault)
const mirror = await openMirror(host, { dir, pollMs: 200, onReport: note }, (path) =>
  plantInFiles(createFolderFiles(path), path, fault),
)
process.stdout.write(`${JSON.stringify({ ready: worker })}\n`)
let isOver = false
process.stdin.once('data', () => {
  isOver = true
  report.isWriter = report.written > 0
})
const ended = new Promise<void>((resolve) => process.stdin.once('end', () => resolve()))

for (let count = worker; !isOver; count++) {
  const id = tasks[count % tasks.length] as number
  try {
    const { task } = (await engine.bus.call('board:get', { id })) as { task: { metadata: Record<string, number> } }
    const before = report.last[id]
    if (before !== undefined && task.metadata[key] !== before)
      report.undone.push(`task ${id}: ${before} became ${task.metadata[key]}`)
    const next = (before ?? 0) + 1
    await engine.bus.call('board:update', { id, metadata: { [key]: next } })
    report.last[id] = next
    report.changes++
  } catch (error) {
    report.errors.push(String(error))
  }
  await new Promise((resolve) => setTimeout(resolve, pause))
}
// The last edits and changes need a mirror to process them: the one with the lease.
await ended
await mirror.close()
await engine.close()
process.stdout.write(`${JSON.stringify({ report })}\n`)
process.stdin.destroy()
