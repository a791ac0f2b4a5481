// A mirror in its own process. It can be ordered to die before the n-th file operation, and reports its actions as lines of JSON. Faults
// for the tests to detect can be planted in its ports.
import { createFolderFiles, type FolderFiles } from '../../../src/board/mirror/folder-files.ts'
import { openMirror } from '../../../src/board/mirror/mirror-board.ts'
import { mirrorHostOf } from '../../../src/board/mirror/mirror-host.ts'
import { createEngine } from '../../../src/index.ts'
import { type Fault, plantInFiles, plantInHost } from './planted-faults.ts'

export interface MirrorOrders {
  ledger: string
  dir: string
  /** Dies before this file operation, counted from the first. */
  dieAt?: number
  /** Syncs once and exits; else runs until its input ends. */
  once?: boolean
  /** Syncs once more when notified, before it exits. */
  twice?: boolean
  fault?: Fault | undefined
  pollMs?: number
}

const orders = JSON.parse(process.argv[2] as string) as MirrorOrders
const send = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)

let operations = 0
/** Counts every operation and does not do the last one. */
function count(): void {
  if (++operations === orders.dieAt) process.kill(process.pid, 'SIGKILL')
}

/** The operations before which a file contained half of its text. */
const halves: number[] = []
function countHalf(): void {
  count()
  halves.push(operations)
}

function mortal(files: FolderFiles): FolderFiles {
  const counted: Record<string, (...given: never[]) => unknown> = {}
  for (const [name, operation] of Object.entries(files)) {
    counted[name] = (...given: unknown[]) => {
      count()
      return (operation as (...given: unknown[]) => unknown)(...given)
    }
  }
  return counted as unknown as FolderFiles
}

const engine = await createEngine({
  ledger: orders.ledger,
  work: false,
  onError: (error) => send({ error: String(error) }),
})
const mirror = await openMirror(
  plantInHost(mirrorHostOf(engine, 'the test'), orders.fault),
  {
    dir: orders.dir,
    watch: !orders.once && !orders.twice,
    pollMs: orders.pollMs ?? 1_000,
    onReport: (report) => send({ report }),
  },
  (dir) => mortal(plantInFiles(createFolderFiles(dir), dir, orders.fault, countHalf)),
)
send({ ready: true })
if (orders.twice) {
  await mirror.sync()
  send({ first: operations })
  await new Promise((resolve) => process.stdin.once('data', resolve))
} else if (!orders.once) await new Promise<void>((resolve) => process.stdin.once('end', resolve).resume())
send({ report: await mirror.sync() })
await mirror.close()
await engine.close()
send({ operations, halves })
process.stdin.destroy()
