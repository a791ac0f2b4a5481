// Reads whose length grows with the ledger: they yield to other work, see one state of the ledger, and end when it is closed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import type { Ledger, Op, Reads } from '../../../src/ledger/ledger.ts'
import { maxQueuedLongReads } from '../../../src/ledger/sqlite/long-reads.ts'
import { openSqliteLedger } from '../../../src/ledger/sqlite/sqlite-ledger.ts'
import { eventRow, taskRow } from '../factories.ts'

/** By this clock every statement takes longer than a slice may, and pauses take no time. */
function slowClock(): Clock {
  let now = 0
  return { ...systemClock, now: () => (now += 20), setTimeout: (work) => systemClock.setTimeout(work, 0) }
}

const tasks = 3_000

async function setup(path?: string): Promise<Ledger> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-long-'))
  const ledger = await openSqliteLedger(path ?? join(folder, 'ledger.db'), slowClock())
  onTestFinished(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (let n = 0; n < tasks; n++) yield* tx.task.insert(taskRow({ id: `task-${n}` }))
    },
  })
  return ledger
}

const add = (ledger: Ledger, id: string) =>
  ledger.step({
    name: 'add',
    *decide(tx) {
      yield* tx.task.insert(taskRow({ id }))
      yield* tx.event.append(eventRow({ taskId: id }))
    },
  })

function* countTwice(tx: Reads): Op<number[]> {
  return [yield* tx.task.count({}), yield* tx.task.count({})]
}

/** A read that runs until `end` is called. */
function endless(ledger: Ledger, reader: { principal?: string; signal?: AbortSignal } = {}) {
  const state = { begun: 0, ended: false }
  const reading = ledger.read(function* (tx) {
    state.begun++
    while (!state.ended) yield* tx.task.count({})
  }, reader)
  return { state, reading, end: () => (state.ended = true) }
}

describe('a long read', () => {
  it('a long read lets steps run meanwhile, and all its statements see one state', async () => {
    const ledger = await setup()
    const order: string[] = []
    const counted = ledger.read(countTwice).finally(() => order.push('read'))
    await add(ledger, 'meanwhile').finally(() => order.push('step'))
    expect(new Set(await counted).size).toBe(1)
    expect(order).toEqual(['step', 'read'])
    expect(await ledger.read(countTwice)).toEqual([tasks + 1, tasks + 1])
  })

  it('a read that proves to be long begins again', async () => {
    const ledger = await setup()
    let begun = 0
    await ledger.read(function* (tx) {
      begun++
      return yield* tx.task.count({})
    })
    expect(begun).toBe(2)
  })

  it('a long read that fails does not prevent the next one', async () => {
    const ledger = await setup()
    const failing = ledger.read(function* (tx) {
      yield* tx.task.count({})
      throw new Error('not found')
    })
    const following = ledger.read(countTwice)
    await expect(failing).rejects.toThrow('not found')
    expect(await following).toEqual([tasks, tasks])
  })

  it('V-07 queued long reads take turns by principal, however many one principal has', async () => {
    const ledger = await setup()
    const first = endless(ledger)
    const order: string[] = []
    const read = (principal: string) => ledger.read(countTwice, { principal }).then(() => order.push(principal))
    const all = ['ann', 'ann', 'ann', 'ann', 'bob', 'bob', 'cem'].map(read)
    first.end()
    await Promise.all([first.reading, ...all])
    expect(order).toEqual(['ann', 'bob', 'cem', 'ann', 'bob', 'ann', 'ann'])
  })

  it('V-07 an abort removes a queued long read and ends a running one at its next slice', async () => {
    const ledger = await setup()
    const controller = new AbortController()
    const running = endless(ledger, { signal: controller.signal })
    const waiting = endless(ledger, { signal: controller.signal })
    const reason = new Error('the client has disconnected')
    const refused = [running, waiting].map(({ reading }) => expect(reading).rejects.toBe(reason))
    controller.abort(reason)
    await Promise.all(refused)
    expect(await ledger.read(countTwice)).toEqual([tasks, tasks])
    expect(waiting.state.begun).toBe(1)
    await expect(ledger.read(countTwice, { signal: controller.signal })).rejects.toBe(reason)
  })

  it('V-07 a long read of a principal with too many queued ones is refused, and those of others and of the program are not', async () => {
    const ledger = await setup()
    const first = endless(ledger)
    const ofAnn = Array.from({ length: maxQueuedLongReads }, () => ledger.read(countTwice, { principal: 'ann' }))
    await expect(ledger.read(countTwice, { principal: 'ann' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    const ofOthers = [ledger.read(countTwice, { principal: 'bob' })]
    for (let n = 0; n <= maxQueuedLongReads; n++) ofOthers.push(ledger.read(countTwice))
    first.end()
    for (const counted of await Promise.all([...ofAnn, ...ofOthers])) expect(counted).toEqual([tasks, tasks])
    expect(await ledger.read(countTwice, { principal: 'ann' })).toEqual([tasks, tasks])
  })

  it('a long read is refused with ENGINE_CLOSED when the ledger is closed', async () => {
    const ledger = await setup()
    const counted = ledger.read(countTwice)
    const refused = expect(counted).rejects.toMatchObject({ code: 'ENGINE_CLOSED' })
    await ledger.close()
    await refused
  })

  it('a long read of a ledger in memory, which has one connection, runs at once', async () => {
    const ledger = await setup(':memory:')
    expect(await ledger.read(countTwice)).toEqual([tasks, tasks])
  })
})

it('a read without lists runs at once, however much time passes by the clock', async () => {
  const ledger = await setup()
  let begun = 0
  await ledger.read(function* (tx) {
    begun++
    yield* tx.task.get('task-1')
    return yield* tx.task.get('task-2')
  })
  expect(begun).toBe(1)
})
