// The feed after a cascade: one commit of thousands of events, published page by page, in order, without blocking other
// work.
import { describe, expect, it, onTestFinished } from 'vitest'
import { Feed } from '../../src/actors/feed.ts'
import { steadyClock } from '../../src/core/clock.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import { delegateLedger } from '../../src/ledger/delegate-ledger.ts'
import type { LedgerObserver } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { eventRow, taskRow } from '../ledger/factories.ts'
import { openEngine } from './world.ts'

const size = 3_000

async function family() {
  const engine = await openEngine({ work: false })
  const root = await engine.create({ name: 'root' })
  for (let made = 0; made < size; made += 1_000) {
    await engine.create(Array.from({ length: 1_000 }, () => ({ name: 'child', parentId: root.id })))
  }
  const received: TaskEvent[] = []
  const all = Promise.withResolvers<void>()
  engine.subscribe('task.canceled', (event) => {
    received.push(event)
    if (received.length === size + 1) all.resolve()
  })
  return { engine, root, received, all: all.promise }
}

const inOrder = (events: readonly TaskEvent[]) =>
  events.every(({ seq }, index) => index === 0 || seq === (events[index - 1] as TaskEvent).seq + 1)

describe('the events of a cascade', () => {
  it('the events of a cascade let timers and other work run between their pages, and are published once each, in order', async () => {
    const { engine, root, received, all } = await family()
    await engine.cancel(root.id)
    let turnsBetween = 0
    for (let before = -1; received.length < size + 1 && before < received.length; turnsBetween++) {
      before = received.length
      await new Promise(setImmediate)
    }
    await all
    expect(turnsBetween).toBeGreaterThan(3)
    expect(received[0]?.taskId).toBe(root.id)
    expect([received.length, inOrder(received)]).toEqual([size + 1, true])
  })

  it('the events of a cascade are published in the order of the ledger when other commits interrupt them', async () => {
    const { engine, root, received, all } = await family()
    const everything: TaskEvent[] = []
    engine.subscribe('*', (event) => void everything.push(event))
    const canceled = engine.cancel(root.id)
    await canceled
    const others = []
    for (let n = 0; n < 5; n++) {
      others.push(await engine.create({ name: 'beside' }))
      await new Promise(setImmediate)
    }
    await all
    await engine.close()
    expect([received.length, everything.length]).toEqual([size + 1, size + 1 + others.length])
    expect(inOrder(everything)).toBe(true)
  })

  it('the events of a cascade are delivered to subscribers to the last when the engine closes at once', async () => {
    const { engine, root, received } = await family()
    await engine.cancel(root.id)
    await engine.close()
    expect([received.length, inOrder(received)]).toEqual([size + 1, true])
  })
})

it('the feed reads the events of another process once for each notification of a commit', async () => {
  const inner = await openLedger(':memory:')
  onTestFinished(() => inner.close())
  const add = (id: string) =>
    inner.step({
      name: 'add',
      *decide(tx) {
        yield* tx.task.insert(taskRow({ id }))
        yield* tx.event.append(eventRow({ taskId: id }))
      },
    })
  const reads: number[] = []
  const observers: LedgerObserver[] = []
  const ledger = delegateLedger(inner, {
    // As on a server, where the commits of other processes are only reported.
    observe(observer) {
      observers.push(observer)
      return () => {}
    },
    read: (query) =>
      inner.read((tx) => {
        const after: typeof tx.event.after = function* (...given) {
          const page = yield* tx.event.after(...given)
          reads.push(page.length)
          return page
        }
        return query({ ...tx, event: { ...tx.event, after } })
      }),
  })
  const feed = new Feed(
    ledger,
    steadyClock,
    () => {},
    () => {},
  )
  await feed.start()
  const seen: string[] = []
  feed.listen(({ taskId }) => seen.push(taskId))
  for (const taskId of ['a', 'b']) {
    await add(taskId)
    for (const observer of observers) observer.changed()
    await feed.caughtUp()
  }
  expect([seen, reads]).toEqual([
    ['a', 'b'],
    [1, 1],
  ])
  // A commit that is reported during a read is read after it.
  await add('c')
  for (const observer of observers) observer.changed()
  await add('d')
  for (const observer of observers) observer.changed()
  while (seen.length < 4) await feed.moved()
  expect(seen.slice(2)).toEqual(['c', 'd'])
  feed.stop()
})
