// The ids of stream events: a client that continues after an id receives exactly what it has not received yet.
import { expect, it } from 'vitest'
import { defineExecutor, type StreamItem } from '../../../src/index.ts'
import { type StreamShape, shapeOf } from '../../../src/surfaces/http/stream-shapes.ts'
import { openWorld } from './world.ts'

const works = defineExecutor({
  run: async (_task, run) => {
    await run.call('look', {}, async () => 1)
    await run.message('assistant', 'hello')
    return 1
  },
})
const breaks = defineExecutor({
  retry: { maxAttempts: 2, backoffMs: 1 },
  run: () => {
    throw new Error('it broke')
  },
})

async function itemsOf(executor: string): Promise<StreamItem[]> {
  const { engine } = await openWorld({}, { executors: { works, breaks } })
  const { id } = await engine.create({ executor })
  const items: StreamItem[] = []
  for await (const item of engine.stream(id)) items.push(item)
  return items
}

/** Items that a client that continues after an id would lose, or receive twice. */
function complaintsAbout(items: readonly StreamItem[], { id }: Pick<StreamShape, 'id'>): string[] {
  return items.flatMap((item, index) => {
    const place = id(item)
    if (place === undefined) return []
    const seen = items.slice(0, index + 1)
    const lost = items.slice(index + 1).filter(({ seq }) => seq <= place)
    const twice = seen.filter(({ seq }) => seq > place)
    return [...lost.map(({ type }) => `${type} lost after ${item.type}`), ...twice.map(({ type }) => `${type} twice`)]
  })
}

it.each(['works', 'breaks'])(
  'the ids of the SSE stream of a task that %s let a client continue without losing or repeating items',
  async (executor) => {
    const items = await itemsOf(executor)
    expect(complaintsAbout(items, shapeOf('task:stream'))).toEqual([])
    expect(items.filter((item) => shapeOf('task:stream').id(item) !== undefined).length).toBeGreaterThan(3)
    expect(shapeOf('task:stream').id(items.at(-1))).toBe(items.at(-1)?.seq)
  },
)

it('the check of stream ids finds that items would be lost if each item had an id', async () => {
  const everywhere = { id: (item: unknown) => (item as StreamItem).seq }
  expect(complaintsAbout(await itemsOf('breaks'), everywhere)).toEqual(
    expect.arrayContaining(['error lost after state', 'end lost after error']),
  )
})

it('SSE streams have no ids for parts of an unfinished message, and for unknown abilities', () => {
  const piece = { type: 'content', taskId: 't', seq: 3, content: 'he', messageId: 'm', offset: 0 }
  expect(shapeOf('task:stream').id(piece)).toBeUndefined()
  expect(shapeOf('task:stream').id({ type: 'content', taskId: 't', seq: 3, content: 'written' })).toBe(3)
  expect(shapeOf('my:stream').id({ type: 'x', seq: 3 })).toBeUndefined()
  expect(shapeOf('__proto__').name({ type: 'x' })).toBe('x')
  expect([shapeOf('my:stream').name({ type: 'a\nb' }), shapeOf('my:stream').name(null)]).toEqual([undefined, undefined])
})
