// The feed after a cascade: one commit of thousands of events, published page by page, in order, without blocking other
// work.
import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/entities/event.ts'
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
