// What the tests of the bus share: a few abilities, what was handled by them, and the refusal of a call.
import { expect } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { type Bus, type BusOptions, createBus } from '../../src/bus/bus.ts'
import { ErrandError, type ErrorCode } from '../../src/core/errors.ts'

export const model = { surface: 'model', taskId: 'task-a', run: 1 }

/** A bus with `notes:add` (one result), `notes:all` (drained stream), `notes:watch` (stream) and `notes:secret` (not for models). */
export function setup(options: BusOptions = {}) {
  const handled: unknown[] = []
  const bus = createBus(options)
  const add = defineAbility({
    id: 'notes:add',
    description: 'Keep a note.',
    input: z.object({ text: z.string(), stars: z.int().min(0).max(5).default(1) }),
    output: z.object({ id: z.string() }),
    handle: (input) => {
      handled.push(input)
      return { id: `note-${handled.length}` }
    },
  })
  const all = defineAbility({
    id: 'notes:all',
    description: 'All notes, one by one.',
    input: z.object({ upTo: z.int() }),
    output: z.object({ n: z.int() }),
    async *stream({ upTo }) {
      for (let n = 1; n <= upTo; n++) yield { n }
    },
    drain: (chunks) => ({ count: chunks.length, last: chunks.at(-1)?.n ?? null }),
  })
  const watch = defineAbility({
    id: 'notes:watch',
    description: 'Notes as they come.',
    input: z.object({}),
    output: z.string(),
    async *stream() {
      yield 'first'
      yield 'second'
    },
  })
  const secret = defineAbility({
    id: 'notes:secret',
    description: 'Only for the program itself.',
    input: z.object({}),
    output: z.null(),
    models: false,
    handle: () => null,
  })
  for (const ability of [add, all, watch, secret]) bus.register(ability)
  return { bus, handled, add, all, watch, secret }
}

/** The error of a promise, a stream's first chunk, or a function; fails the test when there is none or it is another. */
export async function refusalOf(
  work: Promise<unknown> | AsyncGenerator<unknown> | (() => unknown),
  code: ErrorCode,
): Promise<ErrandError> {
  try {
    if (typeof work === 'function') await work()
    else if (work instanceof Promise) await work
    else await work.next()
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    expect(error.code).toBe(code)
    return error
  }
  return expect.unreachable(`expected ${code}, but nothing was refused`) as never
}

export async function collect<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

/** An ability with the given handler, under an id. */
export function register(bus: Bus, id: string, handle: () => unknown = () => null): () => void {
  return bus.register({ id, description: `Does ${id}.`, input: z.object({}), output: z.unknown(), handle })
}
