// The stream of one task: replayed and then live, no gap, no duplicate, and exactly one end.
import { describe, expect, it } from 'vitest'
import type { StreamItem } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { collect, openEngine, puppet, reached, refusalOf } from './world.ts'

const shown = (items: readonly StreamItem[]) =>
  items.map((item) =>
    item.type === 'state' ? `state ${item.status}` : item.type === 'content' ? `content ${item.content}` : item.type,
  )

async function* tokens(...texts: string[]): AsyncGenerator<string> {
  for (const text of texts) yield text
}

const setup = async () => {
  const hands = puppet()
  const engine = await openEngine({ executors: { work: hands.executor } })
  const task = await engine.create({ executor: 'work', goal: 'do it' })
  return { engine, task, held: await hands.started(0), hands }
}

describe('the stream of a task', () => {
  it('the stream of a task yields its life from start to end, the same live and replayed', async () => {
    const { engine, task, held } = await setup()
    const live = collect(engine.stream(task))
    await held.run.progress(0.5, 'half')
    await held.run.call('look', { at: 'sky' }, () => 'blue')
    await held.run.call('break', () => Promise.reject(new Error('broke'))).catch(() => {})
    await held.run.message('assistant', 'hello')
    held.end.resolve(null)
    const items = await live
    expect(items.map(({ seq: _seq, taskId: _task, ...item }) => item)).toEqual([
      { type: 'start', name: 'work', goal: 'do it' },
      { type: 'state', status: 'working', from: 'submitted', reason: null, at: expect.any(Number) as number },
      { type: 'progress', fraction: 0.5, note: 'half' },
      { type: 'tool_call', callId: expect.any(String) as string, tool: 'look', args: { at: 'sky' } },
      { type: 'tool_result', callId: expect.any(String) as string, tool: 'look', result: 'blue' },
      { type: 'tool_call', callId: expect.any(String) as string, tool: 'break', args: null },
      {
        type: 'tool_result',
        callId: expect.any(String) as string,
        tool: 'break',
        result: '',
        error: { code: 'CALL_FAILED', message: 'broke' },
      },
      {
        type: 'message',
        messageId: expect.any(String) as string,
        role: 'assistant',
        content: 'hello',
        announcement: false,
      },
      { type: 'state', status: 'completed', from: 'working', reason: null, at: expect.any(Number) as number },
      { type: 'end', status: 'completed' },
    ])
    expect(await collect(engine.stream(task))).toEqual(items)
  })

  it('the stream of a task continues from any position without a gap or a duplicate, and ends once, even after the end', async () => {
    const { engine, task, held } = await setup()
    await held.run.progress(0.5)
    held.end.resolve(null)
    const whole = await collect(engine.stream(task))
    for (const [index, item] of whole.entries()) {
      const rest = await collect(engine.stream(task, { after: item.seq }))
      const expected = whole.slice(index + 1).filter(({ seq }) => seq > item.seq)
      if (expected.length > 0) expect(rest).toEqual(expected)
      else expect(rest.map(({ type }) => type)).toEqual(['end'])
    }
  })

  it('the stream of a task yields tokens as they come, then the message that replaces them; a late reader gets only the message', async () => {
    const { engine, task, held } = await setup()
    const live = engine.stream(task)
    await live.next()
    await live.next()
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    async function* slowly() {
      yield 'Hel'
      await first.promise
      yield 'lo'
      await second.promise
    }
    const stored = held.run.message('assistant', slowly())
    const one = (await live.next()).value as StreamItem & { messageId: string }
    expect(one).toMatchObject({ type: 'content', content: 'Hel' })
    first.resolve()
    expect((await live.next()).value).toMatchObject({ type: 'content', content: 'lo', messageId: one.messageId })
    second.resolve()
    expect(await stored).toBe(one.messageId)
    expect((await live.next()).value).toMatchObject({ type: 'message', messageId: one.messageId, content: 'Hello' })
    held.end.resolve(null)
    expect(shown(await collect(live))).toEqual(['state completed', 'end'])
    expect(shown(await collect(engine.stream(task)))).toEqual([
      'start',
      'state working',
      'message',
      'state completed',
      'end',
    ])
  })

  it('the stream of a task yields stored output to every reader, and other output to live readers', async () => {
    const { engine, task, held } = await setup()
    const live = collect(engine.stream(task))
    await reached(engine, task, 'working')
    held.run.emit('stored', { store: true })
    await held.run.progress(1)
    held.run.emit('live')
    await new Promise(setImmediate)
    held.end.resolve(null)
    expect(shown(await live)).toEqual(expect.arrayContaining(['content stored', 'content live', 'end']))
    expect(shown(await collect(engine.stream(task)))).toEqual([
      'start',
      'state working',
      'progress',
      'content stored',
      'state completed',
      'end',
    ])
  })

  it('the stream of a task names what was written to stderr, stored and live, in the order in which it was written', async () => {
    const { engine, task, held } = await setup()
    const live = collect(engine.stream(task))
    await reached(engine, task, 'working')
    held.run.emit('now', { stream: 'stderr' })
    for (const [text, stream] of [
      ['a', 'stdout'],
      ['b', 'stderr'],
      ['c', 'stderr'],
      ['d', 'stdout'],
    ] as const) {
      held.run.emit(text, { store: true, stream })
    }
    expect(() => held.run.emit('x', { stream: 'stdin' as 'stderr' })).toThrow(/stream/)
    held.end.resolve(null)
    const outputs = (items: readonly StreamItem[]) =>
      items.flatMap((item) => (item.type === 'content' ? [[item.content, item.stream]] : []))
    expect(outputs(await live)[0]).toEqual(['now', 'stderr'])
    expect(outputs(await collect(engine.stream(task)))).toEqual([
      ['a', undefined],
      ['bc', 'stderr'],
      ['d', undefined],
    ])
  })

  it('the stream of a task yields a question and the effect of its answer', async () => {
    const engine = await openEngine({
      executors: { work: (_task: ExecutorTask, run: Run) => run.ask('Go?', { type: 'boolean' }, { default: true }) },
    })
    const task = await engine.create({ executor: 'work' })
    const live = collect(engine.stream(task))
    const { questions } = await reached(engine, task, 'input_required')
    await engine.answer(task)
    const items = await live
    expect(shown(items)).toEqual([
      'start',
      'state working',
      'state input_required',
      'question',
      'state working',
      'state completed',
      'end',
    ]) // prettier-ignore
    expect(items[3]).toMatchObject({
      questionId: questions[0]?.id,
      question: 'Go?',
      schema: { type: 'boolean' },
      default: true,
    })
  })

  it.each([['canceled'], ['failed'], ['deleted']] as const)(
    'the stream of a task has one end with the status of a task that is %s',
    async (way) => {
      const { engine, task, held } = await setup()
      const live = collect(engine.stream(task))
      await reached(engine, task, 'working')
      if (way === 'canceled') await engine.cancel(task, 'enough')
      if (way === 'deleted') await engine.delete(task)
      if (way === 'failed') held.end.reject(new Error('broke'))
      const items = await live
      expect(items.filter(({ type }) => type === 'end')).toEqual([items.at(-1)])
      expect(items.at(-1)).toMatchObject({ type: 'end', status: way === 'failed' ? 'failed' : 'canceled' })
      if (way === 'failed')
        expect(items.at(-2)).toMatchObject({ type: 'error', error: { message: 'broke' }, willRetry: false })
    },
  )

  it('the stream of a task does not end with a failure that is retried, by the policy or by hand', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
    const live = collect(engine.stream(task))
    ;(await hands.started(0)).end.reject(new Error('one'))
    ;(await hands.started(1)).end.reject(new Error('two'))
    expect(shown(await live).filter((item) => ['error', 'end'].includes(item))).toEqual(['error', 'error', 'end'])
    await engine.retry(task)
    ;(await hands.started(2)).end.resolve(null)
    await engine.settled(task)
    const replayed = shown(await collect(engine.stream(task)))
    expect(replayed.filter((item) => item === 'end')).toEqual(['end'])
    expect(replayed.slice(-2)).toEqual(['state completed', 'end'])
  })

  it('the stream of a task stops with its signal, and fails with ENGINE_CLOSED when the engine is closed', async () => {
    const { engine, task } = await setup()
    const stop = new AbortController()
    const aborted = collect(engine.stream(task, { signal: stop.signal }))
    const open = refusalOf(collect(engine.stream(task)), 'ENGINE_CLOSED')
    await reached(engine, task, 'working')
    stop.abort()
    expect((await aborted).some(({ type }) => type === 'end')).toBe(false)
    await engine.close()
    expect((await open).details).toMatchObject({ taskId: task.id })
  })

  it('the stream of a task of an unknown task is NOT_FOUND', async () => {
    const engine = await openEngine()
    await refusalOf(collect(engine.stream('task-unknown')), 'NOT_FOUND')
  })

  it('the stream of a task serves many readers, each at its own pace', async () => {
    const { engine, task, held } = await setup()
    const slow = engine.stream(task)
    await slow.next()
    const quick = collect(engine.stream(task))
    for (let step = 1; step <= 300; step++) await held.run.progress(step / 300)
    await held.run.message('assistant', tokens('a', 'b'))
    held.end.resolve(null)
    const seen = await quick
    const withoutContent = seen.filter(({ type }) => type !== 'content')
    expect((await collect(slow)).filter(({ type }) => type !== 'content')).toEqual(withoutContent.slice(1))
  })
})
