// The time from createEngine to the first running task, with a million settled and ten thousand submitted tasks in the file, and
// with an empty ledger and one task. Rows are written with bare statements, because writing them is not measured.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createEngine } from '../src/index.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as typeof import('better-sqlite3')

const settled = Number(process.env.BENCH_SETTLED ?? 1_000_000)
const submitted = 10_000

async function fill(path: string): Promise<void> {
  await (await openLedger(path)).close()
  const db = new Database(path)
  db.pragma('synchronous = off')
  const task = db.prepare(
    `insert into task (id, name, description, status, is_group, ready, held, executor, input, result, priority, attempt, run,
      run_open, open_blockers, wakes, crashes, policy, metadata, snapshot, version, created_at, updated_at, completed_at)
     values (?, 'old', '', ?, 0, ?, 0, 'first', 'null', 'null', 0, 1, ?, 0, 0, 0, 0, '{}', '{}', ?, 1, 1, 1, ?)`,
  )
  const event = db.prepare(
    `insert into event (type, task_id, at, instance_id, data) values ('task.created', ?, 1, 'bench', '{}')`,
  )
  db.transaction(() => {
    for (let n = 0; n < settled + submitted; n++) {
      const done = n < settled
      const id = `task-bench${n.toString(36)}`
      const status = done ? 'completed' : 'submitted'
      const run = done ? 1 : 0
      const snapshot = `{"version":1,"value":"${status}","context":{"taskId":"${id}","name":"old","attempt":1,"run":${run}}}`
      task.run(id, status, done ? 0 : 1, run, snapshot, done ? 2 : null)
      event.run(id)
    }
  })()
  db.pragma('wal_checkpoint(truncate)')
  db.close()
}

async function startToFirstTask(path: string): Promise<number> {
  const started = performance.now()
  let first: (ms: number) => void = () => {}
  const running = new Promise<number>((resolve) => {
    first = resolve
  })
  const engine = await createEngine({
    ledger: path,
    maxConcurrent: 1,
    executors: {
      first: (_task: unknown, run: { signal: AbortSignal }) => {
        first(performance.now() - started)
        return new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
      },
    },
  })
  const ms = await running
  await engine.close()
  return ms
}

export async function startup(rounds = 5): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  try {
    const full = join(folder, 'full.db')
    await fill(full)
    const empty: number[] = []
    const filled: number[] = []
    for (let round = 0; round < rounds; round++) {
      const fresh = join(folder, `empty-${round}.db`)
      const producer = await createEngine({ ledger: fresh, work: false })
      await producer.create({ executor: 'first' } as never)
      await producer.close()
      empty.push(await startToFirstTask(fresh))
      filled.push(await startToFirstTask(full))
    }
    console.log(
      `start-up to the first running task: ${median(filled).toFixed(0)} ms with ${settled.toLocaleString('en')} settled and ${submitted.toLocaleString('en')} submitted tasks, ${median(empty).toFixed(0)} ms with an empty ledger: ${(median(filled) - median(empty)).toFixed(0)} ms beyond (aim: under 300)`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
}
