// Killed while it purges: a process dies before and after each transaction of a purge. What it leaves of a family cannot live again, and
// the next engine that works removes it.
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { ErrandError } from '../../../src/core/errors.ts'
import { delegateLedger } from '../../../src/ledger/delegate-ledger.ts'
import type { Ledger, Op, Reads } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { afterDeaths, createPlace, openEngine, type Place, startEngine } from '../../crash/child.ts'
import type { CrashPoints, KillPoint } from '../../crash/killing-ledger.ts'
import { violationsIn } from '../../ledger/check/violations-in.ts'

const purgeBefore = 8e15
const groups = 4
const perGroup = 200
const size = 1 + groups * (1 + perGroup)

/** A settled family whose rows take several transactions, and an open one. */
async function filledPlace(): Promise<Place> {
  const place = createPlace()
  const engine = await openEngine(place, { work: false })
  const old = await engine.create({ name: 'old', key: 'old' })
  for (let group = 0; group < groups; group++) {
    const { id } = await engine.create({ name: 'old group', parentId: old.id })
    await engine.create(Array.from({ length: perGroup }, () => ({ name: 'old leaf', parentId: id })))
  }
  const kept = await engine.create({ name: 'kept' })
  await engine.create({ name: 'kept child', parentId: kept.id })
  await engine.cancel(old)
  await engine.close()
  return place
}

function copyOf(place: Place): Place {
  const copy = createPlace()
  copyFileSync(place.ledger, copy.ledger)
  return copy
}

/** What is wrong with what an engine shows that has nothing to do with the purge. */
async function shown(place: Place): Promise<string[]> {
  const engine = await openEngine(place, { work: false })
  const { tasks } = await engine.list({ limit: 1_000 })
  const old = tasks.filter(({ name }) => name.startsWith('old'))
  const ids = new Set(tasks.map(({ id }) => id))
  const complaints: string[] = []
  if (tasks.length - old.length !== 2) complaints.push('others are missing')
  for (const { id, parentId } of old) {
    if (parentId !== null && !ids.has(parentId)) complaints.push(`${id} is shown without its parent`)
  }
  for await (const event of engine.events({ after: 0, follow: false })) {
    if (!ids.has(event.taskId)) complaints.push(`${event.type} of a task that is gone is shown`)
  }
  const isBegun = old.length === 0 || (await codeOf(engine.update(old[0]!.id, { name: 'old too' }))) === 'PURGED'
  if (old.length !== size && !isBegun) complaints.push(`${old.length} of ${size} tasks may be changed`)
  if (isBegun !== (await takesKey(engine))) complaints.push('the key of the family is not free since its purge began')
  await engine.close()
  return complaints
}

async function codeOf(change: Promise<unknown>): Promise<string> {
  return change.then(
    () => 'done',
    (error: unknown) => (error as ErrandError).code,
  )
}

/** Whether the key of the family creates a new task; otherwise it belongs to the root, which is another task. */
async function takesKey(engine: Awaited<ReturnType<typeof openEngine>>): Promise<boolean> {
  return (await codeOf(engine.create({ name: 'new', key: 'old', input: 'another' }))) === 'done'
}

/** What is left in the file when all is done. */
function leftovers(place: Place): string[] {
  const database = new Database(place.ledger, { readonly: true })
  try {
    const countOf = (text: string) => database.prepare(text).pluck().get() as number
    const complaints = (database.pragma('foreign_key_check') as unknown[]).map(
      (row) => `orphan: ${JSON.stringify(row)}`,
    )
    const counts = {
      tasks: countOf(`select count(*) from task where name like 'old%'`),
      events: countOf(
        `select count(*) from event where task_id not in (select id from task where name not like 'old%')`,
      ),
      purging: countOf('select count(*) from purging'),
    }
    for (const [what, count] of Object.entries(counts)) if (count > 0) complaints.push(`${count} ${what} are left`)
    if (countOf(`select count(*) from task where name like 'kept%'`) !== 2) complaints.push('others are missing')
    return complaints
  } finally {
    database.close()
  }
}

/** Lets an engine work until it has removed what was being purged; returns whether anything was. */
async function workedOn(place: Place, spoil: (ledger: Ledger) => Partial<Ledger> = () => ({})): Promise<boolean> {
  const inner = await openLedger(place.ledger)
  const isPurging = () =>
    inner.read(function* (tx) {
      return (yield* tx.purge.begun(1)).length > 0
    })
  const wasPurging = await isPurging()
  const finished = Promise.withResolvers<void>()
  const ledger = delegateLedger(inner, {
    async step(step) {
      const value = await inner.step(step)
      if (step.name === 'remove purged rows' && !(await isPurging())) finished.resolve()
      return value
    },
    ...spoil(inner),
  })
  const engine = await openEngine(place, { ledger })
  if (wasPurging && spoil(inner).read === undefined) await finished.promise
  await engine.idle()
  await engine.close()
  await inner.close()
  return wasPurging
}

describe('Killed while it purges', () => {
  it('an engine leaves no part of a family that could live again, and the next one finishes', async () => {
    const place = await filledPlace()
    const clean = copyOf(place)
    const child = startEngine(clean, { purgeBefore })
    const steps = Number((await child.lineWhere((line) => 'steps' in line))['steps'])
    expect((await child.exited).code).toBe(0)
    expect(leftovers(clean)).toEqual([])
    const points = Array.from({ length: steps }, (_, index) =>
      (['before', 'after'] as const).map((when) => ({ step: index + 1, when })),
    ).flat()
    let halves = 0
    const play = (killed: Place, points: CrashPoints) => startEngine(killed, { purgeBefore, ...points }).exited
    const goOn = async (killed: Place, { step, when }: KillPoint) => {
      const title = `died ${when} step ${step}`
      expect(await violationsIn(killed.ledger), title).toEqual([])
      expect(await shown(killed), title).toEqual([])
      if (await workedOn(killed)) halves++
      else {
        const engine = await openEngine(killed, { work: false })
        await engine.purge({ before: purgeBefore })
        await engine.close()
      }
      expect(leftovers(killed), title).toEqual([])
      expect(await violationsIn(killed.ledger), title).toEqual([])
    }
    const { kills, images } = await afterDeaths(points, play, goOn, () => copyOf(place))
    console.log(`${kills} kills and ${images} images at ${steps} steps; ${halves} left a family half purged`)
    expect(kills + images).toBe(points.length)
    expect(halves).toBeGreaterThan(3)
  }, 120_000)

  it('the harness catches an engine that removes rows before it marks the family, and one that does not finish', async () => {
    const place = await filledPlace()
    const early = copyOf(place)
    const database = new Database(early.ledger)
    for (const table of ['event', 'task']) {
      const id = table === 'task' ? 'id' : 'task_id'
      database.exec(
        `delete from ${table} where ${id} in (select id from task where name = 'old leaf' order by seq limit 50)`,
      )
    }
    database.close()
    expect((await shown(early)).join()).toContain(`${size - 50} of ${size} tasks may be changed`)

    const half = copyOf(place)
    const { exited } = startEngine(half, { purgeBefore, death: { step: 4, when: 'after' } })
    await exited
    const blind = (inner: Ledger): Partial<Ledger> => ({
      read: (query, reader) =>
        inner.read((tx: Reads) => query({ ...tx, purge: { ...tx.purge, begun: neverBegun } }), reader),
    })
    expect(await workedOn(half, blind)).toBe(true)
    expect(leftovers(half).join()).toMatch(/\d+ tasks are left/)
  })
})

function* neverBegun(): Op<string[]> {
  return []
}
