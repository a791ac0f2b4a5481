// Processes that claim the tasks of one board: each task is claimed once, none is left, and no claim is refused because the ledger is busy.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { expect, onTestFinished } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import { programOf } from '../programs.ts'
import { createPlace } from './child.ts'
import type { ClaimReport } from './claim-process.ts'
import { violations } from './invariants.ts'

/** Starts a process that waits for `go`, claims tasks until none is left, and reports. */
function startClaimer(ledger: string, owner: string) {
  const script = programOf(import.meta.dirname, 'claim-process.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ledger, owner], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const next = async () => JSON.parse((await lines.next()).value as string) as unknown
  return {
    ready: next(),
    async go(): Promise<ClaimReport> {
      child.stdin.write('go\n')
      return (await next()) as ClaimReport
    },
  }
}

/** Runs a race, and checks its reports and the ledger. */
export async function raceForClaims({ tasks, processes }: { tasks: number; processes: number }): Promise<void> {
  const place = createPlace()
  const engine = await createEngine({ ledger: place.ledger, work: false })
  onTestFinished(() => engine.close())
  await engine.create(Array.from({ length: tasks }, (_, index) => ({ name: `task ${index}`, priority: index % 5 })))
  const claimers = Array.from({ length: processes }, (_, index) => startClaimer(place.ledger, `owner-${index}`))
  await Promise.all(claimers.map((claimer) => claimer.ready))
  const reports = await Promise.all(claimers.map((claimer) => claimer.go()))

  expect(reports.flatMap((report) => report.refusals)).toEqual([])
  const claimed = reports.flatMap((report) => report.claimed.map((id) => [id, report.owner] as const))
  expect(claimed).toHaveLength(tasks)
  expect(new Set(claimed.map(([id]) => id)).size).toBe(tasks)
  expect(await violations(place)).toEqual([])

  const database = new Database(place.ledger, { readonly: true })
  const rows = database.prepare('select id, owner, status, fence, result from task').all()
  const log = database
    .prepare(`select type, count(*) as times from event where type like 'task.%' group by type order by type`)
    .all()
  database.close()
  const owners = new Map(claimed)
  for (const row of rows as Array<{ id: string }>) {
    const owner = owners.get(row.id)
    expect(row).toEqual({ id: row.id, owner, status: 'completed', fence: 1, result: JSON.stringify(owner) })
  }
  expect(log).toEqual(
    ['claimed', 'completed', 'created', 'started'].map((type) => ({ type: `task.${type}`, times: tasks })),
  )
}
