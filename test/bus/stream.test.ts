// Streams: chunks as text and as values, the two kinds kept apart, and an end in every case.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createBus } from '../../src/bus/bus.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { collect, refusalOf, register, setup } from './world.ts'

/** A stream that yields once, then hangs until it is released; it reports when its `finally` has run. */
function hanging() {
  const bus = createBus()
  const finished = Promise.withResolvers<string>()
  const release = Promise.withResolvers<void>()
  const signals: AbortSignal[] = []
  bus.register({
    id: 'a:b',
    description: 'Hangs.',
    input: z.object({}),
    output: z.int(),
    async *stream(_input, { signal }) {
      signals.push(signal)
      try {
        yield 1
        await release.promise
        yield 2
      } finally {
        finished.resolve('finally')
      }
    },
  })
  return { bus, finished: finished.promise, release: () => release.resolve(), signals }
}

describe('invokeStream', () => {
  it('S1-078 invokeStream returns a reusable function that yields strings', async () => {
    const { bus } = setup()
    const watch = bus.invokeStream('notes:watch')
    expect(await collect(watch('{}'))).toEqual(['"first"', '"second"'])
    expect(await collect(watch('{}'))).toEqual(['"first"', '"second"'])
  })

  it('S1-078 invokeStream checks each chunk', async () => {
    const bus = createBus()
    bus.register({
      id: 'a:b',
      description: 'Mixed.',
      input: z.object({}),
      output: z.int(),
      async *stream() {
        yield 1
        yield 'two' as never
      },
    })
    const seen: string[] = []
    const reading = (async () => {
      for await (const chunk of bus.invokeStream('a:b')('{}')) seen.push(chunk)
    })()
    const error = await refusalOf(reading, 'EXECUTION_ERROR')
    expect(error.message).toContain('does not match its schema')
    expect(seen).toEqual(['1'])
  })

  it('S1-081 invokeStream checks the input before the handler is called', async () => {
    const { bus } = setup()
    await refusalOf(bus.invokeStream('notes:all')('{"upTo":"three"}'), 'INVALID_INPUT')
    await refusalOf(bus.invokeStream('notes:all')('three'), 'INVALID_INPUT')
  })

  it('S1-080 invokeStream refuses an unknown ability at the first chunk', async () => {
    const { bus } = setup()
    await refusalOf(bus.invokeStream('notes:wat')('{}'), 'NOT_FOUND')
  })

  it('invokeStream reports a handler that returns no chunks', async () => {
    const bus = createBus()
    const stream = () => [1, 2] as never
    bus.register({ id: 'a:b', description: 'A list.', input: z.object({}), output: z.int(), stream })
    const error = await refusalOf(bus.invokeStream('a:b')('{}'), 'EXECUTION_ERROR')
    expect(error.message).toContain('expected an async iterable')
  })
})

describe('the two kinds of abilities', () => {
  it('S1-082 invoking a stream is refused with a hint', async () => {
    const { bus } = setup()
    for (const work of [bus.invoke('notes:watch')('{}'), bus.call('notes:watch', {})]) {
      const error = await refusalOf(work, 'TYPE_MISMATCH')
      expect(error.message).toContain('Use `invokeStream`')
      expect(error.details).toEqual({ abilityId: 'notes:watch', isStream: true })
    }
  })

  it('S1-082 streaming an ability that is not a stream is refused with a hint, and the handler is not called', async () => {
    const { bus, handled } = setup()
    for (const work of [bus.invokeStream('notes:add')('{"text":"a"}'), bus.stream('notes:add', { text: 'a' })]) {
      const error = await refusalOf(work, 'TYPE_MISMATCH')
      expect(error.message).toContain('Use `invoke`')
    }
    expect(handled).toEqual([])
  })

  it('S1-082 a stream that can be drained is invoked as one result', async () => {
    const { bus, all } = setup()
    expect(await bus.invoke('notes:all')('{"upTo":3}')).toBe('{"count":3,"last":3}')
    expect(await bus.call(all, { upTo: 0 })).toEqual({ count: 0, last: null })
    expect(await collect(bus.stream(all, { upTo: 2 }))).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('S1-082 TYPE_MISMATCH is thrown before the input is checked, and after the caller is', async () => {
    const { bus } = setup()
    await refusalOf(bus.invoke('notes:watch')('no JSON'), 'TYPE_MISMATCH')
    const caller = { surface: 'model', taskId: 'task-a', abilities: [[]] }
    await refusalOf(bus.invoke('notes:watch')('{}', { caller }), 'FORBIDDEN')
  })
})

describe('a stream comes to an end', () => {
  it('a stream ends when its reader stops early: the handler’s `finally` has run by then', async () => {
    const { bus, finished, release } = hanging()
    let ended = false
    void finished.then(() => (ended = true))
    for await (const chunk of bus.invokeStream('a:b')('{}')) {
      expect(chunk).toBe('1')
      break
    }
    expect(ended).toBe(true)
    expect(bus.log()).toMatchObject([{ abilityId: 'a:b', ok: true }])
    release()
  })

  it('a stream ends at once when its signal aborts while a chunk is awaited, and the handler is notified', async () => {
    const { bus, finished, release, signals } = hanging()
    const control = new AbortController()
    const chunks = bus.stream('a:b', {}, { signal: control.signal })
    expect(await chunks.next()).toEqual({ value: 1, done: false })
    const next = chunks.next()
    control.abort(new Error('enough'))
    const error = await refusalOf(next, 'EXECUTION_ERROR')
    expect(error.message).toBe('Ability a:b was aborted: enough')
    expect(signals[0]?.aborted).toBe(true)
    release()
    expect(await finished).toBe('finally')
    expect(await chunks.next()).toEqual({ value: undefined, done: true })
    expect(bus.log()).toMatchObject([{ ok: false, code: 'EXECUTION_ERROR' }])
  })

  it('a stream ends when its signal aborts between two chunks, though no other chunk is read', async () => {
    const { bus, finished } = hanging()
    const control = new AbortController()
    const chunks = bus.stream('a:b', {}, { signal: control.signal })
    await chunks.next()
    control.abort()
    expect(await finished).toBe('finally')
    await refusalOf(chunks.next(), 'EXECUTION_ERROR')
  })

  it('a stream ends before it begins when its signal has already aborted', async () => {
    const { bus, signals } = hanging()
    const reason = new ErrandError('RUN_ENDED', 'The run of task-a has ended.', { taskId: 'task-a' })
    const error = await refusalOf(bus.stream('a:b', {}, { signal: AbortSignal.abort(reason) }), 'RUN_ENDED')
    expect(error.details).toEqual({ taskId: 'task-a', abilityId: 'a:b' })
    expect(signals).toEqual([])
  })

  it('a stream ends when it is drained and aborted in the middle', async () => {
    const bus = createBus()
    const control = new AbortController()
    bus.register({
      id: 'a:b',
      description: 'Counts.',
      input: z.object({}),
      output: z.int(),
      async *stream() {
        yield 1
        control.abort(new Error('enough'))
        yield 2
      },
      drain: (chunks) => chunks,
    })
    const error = await refusalOf(bus.call('a:b', {}, { signal: control.signal }), 'EXECUTION_ERROR')
    expect(error.message).toBe('Ability a:b was aborted: enough')
  })

  it('a stream leaves no listener on the signal of its caller', async () => {
    const { bus } = setup()
    const { signal } = new AbortController()
    let listening = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listening++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listening--
      removeEventListener.apply(signal, args)
    }
    await collect(bus.stream('notes:watch', {}, { signal }))
    for await (const _chunk of bus.stream('notes:watch', {}, { signal })) break
    expect(listening).toBe(0)
  })

  it('a stream does not call `return` of a source that has ended', async () => {
    const bus = createBus()
    const asked: string[] = []
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          asked.push('next')
          return Promise.resolve({ value: asked.length, done: asked.length > 2 })
        },
        return: () => {
          asked.push('return')
          return Promise.resolve({ value: undefined, done: true as const })
        },
      }),
    }
    bus.register({ id: 'a:b', description: 'By hand.', input: z.object({}), output: z.int(), stream: () => source })
    expect(await collect(bus.stream('a:b', {}))).toEqual([1, 2])
    expect(asked).toEqual(['next', 'next', 'next'])
    asked.length = 0
    for await (const _chunk of bus.stream('a:b', {})) break
    expect(asked).toEqual(['next', 'return'])
  })
})

it('the handler of a stream starts when the first chunk is read', async () => {
  const bus = createBus()
  let begun = false
  register(bus, 'a:a')
  bus.register({
    id: 'a:b',
    description: 'Begins.',
    input: z.object({}),
    output: z.int(),
    async *stream() {
      begun = true
      yield 1
    },
  })
  const chunks = bus.invokeStream('a:b')('{}')
  await bus.call('a:a', {})
  expect(begun).toBe(false)
  await collect(chunks)
  expect(begun).toBe(true)
})
