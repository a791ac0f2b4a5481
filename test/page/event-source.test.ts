// Following a stream: whole events from any chunks, continuing with the last id after a disconnection, and ending at a refusal.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ApiError } from '../../page/src/live/api-client.ts'
import { type Connection, followSource, type SourceEvent } from '../../page/src/live/event-source.ts'
import type { Problem } from '../../page/src/model/wire.ts'

/** Timers that fire when the test calls `ring`, in the order in which they are due. */
class ManualClock {
  readonly timers = new Map<number, { callback: () => void; at: number }>()
  now = 0
  #last = 0

  later = (callback: () => void, ms: number): number => {
    this.timers.set(++this.#last, { callback, at: this.now + ms })
    return this.#last
  }

  cancel = (timer: unknown): void => {
    this.timers.delete(timer as number)
  }

  random = (): number => 1

  /** Fires the timer that is due next, and returns after how many milliseconds. */
  ring(): number {
    const [next] = [...this.timers].sort(([, a], [, b]) => a.at - b.at)
    if (next === undefined) throw new Error('nothing is due')
    const [id, { callback, at }] = next
    const rest = at - this.now
    this.now = at
    this.timers.delete(id)
    callback()
    return rest
  }
}

const encoder = new TextEncoder()

function bodyOf(pieces: ReadonlyArray<string | Uint8Array>, { open = false } = {}): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
        if (!open) controller.close()
      },
    }),
  )
}

const item = (seq: number) => `id: ${seq}\nevent: task.updated\ndata: {"seq":${seq}}\n\n`

interface World {
  clock: ManualClock
  asked: Array<string | null>
  events: SourceEvent[]
  connections: Connection[]
  refused: Problem[]
  ended: Promise<void>
  close: () => void
  /** Resolves when this many connections have been opened. */
  connected(count: number): Promise<void>
  /** Resolves when the source waits after a disconnection. */
  resting(): Promise<void>
  /** Resolves when the source pauses during a burst. */
  gathering(): Promise<void>
}

type Answer = (signal: AbortSignal) => Response | Promise<Response>

/** A source whose connections get these answers in order; the last one is repeated. */
function follow(answers: Answer[], lastId: string | null = null): World {
  const clock = new ManualClock()
  const [asked, events, connections, refused]: [Array<string | null>, SourceEvent[], Connection[], Problem[]] = [
    [],
    [],
    [],
    [],
  ]
  const watchers = new Set<() => void>()
  const look = () => {
    for (const watcher of watchers) watcher()
  }
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const watcher = () => {
        if (!holds()) return
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
      watcher()
    })
  let over: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  const later: ManualClock['later'] = (callback, ms) => {
    const timer = clock.later(callback, ms)
    queueMicrotask(look)
    return timer
  }
  const close = followSource({
    lastId,
    clock: { later, cancel: clock.cancel, random: clock.random },
    open: async (id, signal) => {
      asked.push(id)
      queueMicrotask(look)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      return (answer as Answer)(signal)
    },
    onEvent: (event) => events.push(event),
    onConnection: (connection) => {
      connections.push(connection)
      queueMicrotask(look)
    },
    onRefused: (problem) => {
      refused.push(problem)
      over()
    },
    onEnd: over,
  })
  return {
    clock,
    asked,
    events,
    connections,
    refused,
    ended,
    close,
    connected: (count) => until(() => asked.length >= count),
    // The other timer detects silence.
    gathering: () => until(() => clock.timers.size > 1),
    resting: () => until(() => connections.at(-1) === 'broken' && clock.timers.size > 0),
  }
}

const end = () => new Response(null, { status: 204 })

it('followSource assembles events from chunks that are cut anywhere, even within a multi-byte character', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      async (texts, sizes) => {
        const all = encoder.encode(
          texts.map((text, index) => `id: ${index + 1}\ndata: ${JSON.stringify(text)}\n\n`).join(''),
        )
        const pieces: Uint8Array[] = []
        for (let at = 0; at < all.length; ) {
          const size = sizes.next().value as number
          pieces.push(all.slice(at, at + size))
          at += size
        }
        const world = follow([() => bodyOf(pieces), end])
        await world.resting()
        expect(world.events.map(({ data }) => JSON.parse(data))).toEqual(texts)
        world.close()
      },
    ),
    { numRuns: 50 },
  )
})

it('followSource continues after a disconnection with the last received id', async () => {
  const world = follow([() => bodyOf([item(4), item(5)]), () => bodyOf([item(6)]), end], '3')
  await world.resting()
  world.clock.ring()
  await world.connected(2)
  await world.resting()
  world.clock.ring()
  await world.ended
  expect(world.asked).toEqual(['3', '5', '6'])
  expect(world.events.map(({ id }) => id)).toEqual(['4', '5', '6'])
})

it('followSource delivers an event that a disconnection cut in half once, and in full', async () => {
  const world = follow([() => bodyOf([item(1), 'id: 2\ndata: {"se']), () => bodyOf([item(2)]), end])
  await world.resting()
  expect(world.events.map(({ id }) => id)).toEqual(['1'])
  world.clock.ring()
  await world.connected(2)
  await world.resting()
  expect(world.asked[1]).toBe('1')
  expect(world.events.map(({ id }) => id)).toEqual(['1', '2'])
  world.close()
})

it('followSource waits longer after each failed connection, and briefly again after data has arrived', async () => {
  const away = () =>
    Promise.reject(new ApiError({ status: 0, code: 'UNREACHABLE', title: '', detail: '', details: {} }))
  const world = follow([away, away, away, () => bodyOf([item(1)]), away])
  const rests: number[] = []
  for (let tries = 1; tries <= 4; tries++) {
    await world.connected(tries)
    await world.resting()
    rests.push(world.clock.ring())
  }
  expect(rests).toEqual([300, 600, 1_200, 300])
  world.close()
})

it('followSource never waits longer than ten seconds between connections', async () => {
  const away = () =>
    Promise.reject(new ApiError({ status: 503, code: 'ENGINE_CLOSED', title: '', detail: '', details: {} }))
  const world = follow([away])
  let longest = 0
  for (let tries = 1; tries <= 12; tries++) {
    await world.connected(tries)
    await world.resting()
    longest = Math.max(longest, world.clock.ring())
  }
  expect(longest).toBe(10_000)
  world.close()
})

it('followSource does not reconnect after a refusal: a position that is too old, or a token without the right', async () => {
  const problem: Problem = { status: 410, code: 'CURSOR_TOO_OLD', title: '', detail: 'gone', details: {} }
  const world = follow([() => Promise.reject(new ApiError(problem))])
  await world.ended
  expect(world.refused).toEqual([problem])
  expect(world.asked).toHaveLength(1)
})

it('followSource ends at a refusal in the middle of a stream', async () => {
  const problem: Problem = { status: 410, code: 'CURSOR_TOO_OLD', title: '', detail: 'gone', details: {} }
  const world = follow([() => bodyOf([item(1), `event: error\ndata: ${JSON.stringify(problem)}\n\n`])])
  await world.ended
  expect(world.refused).toEqual([problem])
})

it('followSource ends when the server ends the stream', async () => {
  const world = follow([() => bodyOf([item(1), 'event: end\ndata: {}\n\n'])])
  await world.ended
  expect(world.asked).toHaveLength(1)
})

it('followSource aborts a connection without heartbeats, and opens another', async () => {
  const silent: Answer = (signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  const world = follow([silent, end])
  await world.connected(1)
  expect(world.clock.ring()).toBe(50_000)
  await world.resting()
  world.clock.ring()
  await world.ended
  expect(world.asked).toHaveLength(2)
})

it('followSource reads a burst of events in larger chunks with pauses, and loses none', async () => {
  const storm = Array.from({ length: 200 }, (_, index) => item(index + 1)).join('')
  const world = follow([() => bodyOf([storm, item(201)]), end])
  await world.gathering()
  expect(world.events).toHaveLength(200)
  expect(world.clock.ring()).toBe(100)
  await world.resting()
  expect(world.events.map(({ id }) => Number(id))).toEqual(Array.from({ length: 201 }, (_, index) => index + 1))
  world.close()
})

it('followSource that is closed during a burst does not wait for the end of its pause', async () => {
  const storm = Array.from({ length: 200 }, (_, index) => item(index + 1)).join('')
  const world = follow([() => bodyOf([storm, item(201)])])
  await world.gathering()
  world.close()
  expect(world.clock.timers.size).toBeLessThanOrEqual(1)
  expect(world.asked).toHaveLength(1)
})

it('followSource opens no connection after it is closed', async () => {
  const world = follow([() => bodyOf([item(1)])])
  await world.resting()
  world.close()
  expect(world.clock.timers.size).toBe(0)
  expect(world.asked).toHaveLength(1)
})
