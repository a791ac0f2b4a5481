// Four processes on one board of dependent tasks.
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { WorkReport } from '../../board/board-worker.ts'
import { createLayers } from '../../board/layered-tasks.ts'
import { startWorker } from '../../board/worker-process.ts'
import { createPlace } from '../../crash/child.ts'
import { violations } from '../../crash/invariants.ts'

const tasks = Number(process.env.ERRAND_BOARD_TASKS ?? 3_000)
const processes = 4

/** Violations of what four workers must guarantee; empty if there are none. */
function complaints(reports: readonly WorkReport[], total: number): string[] {
  const done = reports.flatMap((report) => report.done)
  const freed = reports.flatMap((report) => report.freed)
  return [
    ...reports.flatMap((report) => report.refusals),
    ...(new Set(done).size === done.length ? [] : ['a task was completed twice']),
    ...(done.length === total ? [] : [`${done.length} of ${total} tasks were completed`]),
    ...(new Set(freed).size === freed.length ? [] : ['a task came free twice']),
  ]
}

describe('four processes on one board', () => {
  it('S4-054 S4-041 four processes do each dependent task once, after its blockers, and lose none', async () => {
    const place = createPlace()
    const engine = await createEngine({ ledger: place.ledger, work: false })
    onTestFinished(() => engine.close())
    const after = await createLayers(engine, tasks)
    const workers = Array.from({ length: processes }, (_, n) => startWorker(place.ledger, `agent-${n}`, tasks))
    onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.end()))))
    await Promise.all(workers.map((worker) => worker.ready))
    const reports = await Promise.all(workers.map((worker) => worker.go()))

    expect(complaints(reports, tasks)).toEqual([])
    expect(await violations(place)).toEqual([])
    const database = new Database(place.ledger, { readonly: true })
    onTestFinished(() => void database.close())
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    const seqs = (type: string) =>
      new Map(
        (
          database.prepare('select task_id as id, seq from event where type = ?').all(type) as Array<{
            id: string
            seq: number
          }>
        ).map(({ id, seq }) => [id, seq]),
      )
    const [claimed, completed] = [seqs('task.claimed'), seqs('task.completed')]
    const early = [...after].filter(([id, blockers]) =>
      blockers.some((blocker) => (completed.get(blocker) as number) > (claimed.get(id) as number)),
    )
    expect(early).toEqual([])
    expect(database.prepare(`select count(*) as n from event where type = 'task.claimed'`).get()).toEqual({ n: tasks })
    expect(database.prepare('select count(*) as n, max(number) as most from board_task').get()).toEqual({
      n: tasks,
      most: tasks,
    })
  }, 120_000)

  it('the check of the four processes detects a task done twice, a lost task and a refusal', () => {
    const one: WorkReport = {
      as: 'a',
      started: 0,
      ended: 1,
      done: [1, 2],
      durableAt: {},
      freed: [2],
      claimMs: [],
      refusals: [],
    }
    expect(complaints([one, { ...one, done: [3], freed: [] }], 3)).toEqual([])
    expect(complaints([one, { ...one, done: [2, 3], freed: [] }], 4)).toEqual(['a task was completed twice'])
    expect(complaints([one], 3)).toEqual(['2 of 3 tasks were completed'])
    expect(complaints([{ ...one, freed: [2, 2] }], 2)).toEqual(['a task came free twice'])
    expect(complaints([{ ...one, refusals: ['STALE_CLAIM'] }], 2)).toEqual(['STALE_CLAIM'])
  })
})
