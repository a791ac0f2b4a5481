// Requests for many tasks: a few at a time, and again after a rest when the server asks for one.

import type { FrameClock } from '../model/throttle.ts'
import type { Problem } from '../model/wire.ts'
import { problemOf } from './api-client.ts'

const maxAtOnce = 4
const restMs = 1_000
const maxRests = 30

export interface Refused<Item> {
  item: Item
  problem: Problem
}

/** Resolves to the refused ones, in order. `onDone` is called after each with the number of finished ones. */
export async function requestForEach<Item>(
  items: readonly Item[],
  request: (item: Item) => Promise<unknown>,
  clock: Pick<FrameClock, 'later'>,
  onDone: (done: number) => void = () => {},
): Promise<Array<Refused<Item>>> {
  const refused = new Map<number, Refused<Item>>()
  let [next, done] = [0, 0]
  const work = async () => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at] as Item
      const problem = await withRetries(() => request(item), clock)
      if (problem !== null) refused.set(at, { item, problem })
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: maxAtOnce }, work))
  return [...refused].sort(([a], [b]) => a - b).map(([, each]) => each)
}

/** Resolves to the refusal; null if there was none. */
async function withRetries(request: () => Promise<unknown>, clock: Pick<FrameClock, 'later'>): Promise<Problem | null> {
  for (let rests = 0; ; rests++) {
    try {
      await request()
      return null
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status !== 429 || rests === maxRests) return problem
      await new Promise<void>((resolve) => clock.later(resolve, restMs))
    }
  }
}
