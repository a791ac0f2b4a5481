// task:stream of Agent OS: the output of a task, live and replayed, complete for every reader.
import { describe, expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { OutputProjection, type TaskOutput } from '../../../src/compat/agent-os/views/task-output.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { echo, tool } from '../../agents/world.ts'
import { collect, puppet, reached, refusalOf, turns } from '../../engine/world.ts'
import { heldModel, modelOf } from '../../operations/world.ts'
import { inShort, openManager, outputOf, textOf } from './world.ts'

const broken = tool('test:broken', () => {
  throw new Error('no such file')
})

const working = () =>
  createScriptedModel([
    {
      text: 'I look it up. ',
      tools: [
        { name: 'test_echo', input: { text: 'hi' } },
        { name: 'test_broken', input: { file: 'a' } },
      ],
    },
    { text: 'It says hi.' },
  ])

describe('task:stream', () => {
  it('S1-012 S1-013 S1-015 S1-016 S1-023 S1-032 task:stream yields start, text, calls with their results, and one end', async () => {
    const { bus, engine } = await openManager({
      model: working(),
      abilities: [echo, broken],
      toolExecution: 'sequential',
    })
    const { taskId } = await bus.call('task:spawn', { goal: 'Look' })
    await engine.result(taskId)
    expect(inShort(await outputOf({ bus }, taskId))).toEqual([
      { type: 'start', goal: 'Look' },
      { type: 'content', content: 'I look it up. ' },
      { type: 'tool_call', tool: 'test_echo', args: { text: 'hi' } },
      { type: 'tool_result', tool: 'test_echo', result: 'hi' },
      { type: 'tool_call', tool: 'test_broken', args: { file: 'a' } },
      { type: 'tool_result', tool: 'test_broken', result: '', error: 'no such file' },
      { type: 'content', content: 'It says hi.' },
      { type: 'end', status: 'completed' },
    ])
  })

  it('S1-076 S1-014 C-16 task:stream begins with the start although it is called after the spawn, and its text is complete', async () => {
    const { bus } = await openManager({ model: working(), abilities: [echo, broken] })
    const { taskId } = await bus.call('task:spawn', { goal: 'Look' })
    const output = await outputOf({ bus }, taskId)
    expect(output[0]).toEqual({ type: 'start', taskId, goal: 'Look' })
    expect(output.at(-1)).toEqual({ type: 'end', taskId, status: 'completed' })
    expect(textOf(output)).toBe('I look it up. It says hi.')
  })

  it('S1-017 S1-018 S1-019 task:stream yields the same to every reader, whenever it begins', async () => {
    const hands = puppet()
    const { bus, engine } = await openManager({ executors: { work: hands.executor } })
    const { id: taskId } = await engine.create({ executor: 'work', goal: 'Talk' })
    const { run, end } = await hands.started(0)
    const gate = Promise.withResolvers<void>()
    async function* slowly() {
      yield 'one '
      await gate.promise
      yield 'two '
      yield 'three'
    }
    const early = [outputOf({ bus }, taskId), outputOf({ bus }, taskId)]
    await turns()
    const written = run.message('assistant', slowly())
    await turns()
    const late = outputOf({ bus }, taskId)
    await turns()
    gate.resolve()
    await written
    end.resolve(null)
    const outputs = await Promise.all([...early, late, outputOf({ bus }, taskId)])
    for (const output of outputs) {
      expect(textOf(output)).toBe('one two three')
      expect(output.filter(({ type }) => type !== 'content').map(({ type }) => type)).toEqual(['start', 'end'])
    }
    expect(outputs.map((output) => output.length - 2)).toEqual([3, 3, 1, 1])
    expect(outputs[0]).toEqual(outputs[1])
    await engine.idle()
    expect(await outputOf({ bus }, taskId)).toEqual(outputs[3])
  })

  it('S1-020 task:stream loses nothing for a slow reader, buffers little, and blocks no other reader', async () => {
    const hands = puppet()
    const { bus, engine } = await openManager({ executors: { work: hands.executor } })
    const { id: taskId } = await engine.create({ executor: 'work', goal: 'Talk' })
    const { run, end } = await hands.started(0)
    const slow = bus.stream('task:stream', { taskId })
    expect((await slow.next()).value).toMatchObject({ type: 'start' })
    // More pieces than are buffered for a reader.
    const words = Array.from({ length: 2_500 }, (_, index) => `${index} `)
    await run.message('assistant', words)
    await run.message('assistant', 'The end.')
    end.resolve(null)
    await engine.result(taskId)
    const rest = await collect(slow)
    expect(textOf(rest)).toBe(`${words.join('')}The end.`)
    expect(rest.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  })

  it('S1-020 task:stream releases a reader that leaves early or while it waits', async () => {
    const held = heldModel()
    const { bus, engine } = await openManager({ model: held.model })
    const { taskId } = await bus.call('task:spawn', { goal: 'Look' })
    for await (const output of bus.stream('task:stream', { taskId })) {
      expect(output.type).toBe('start')
      break
    }
    const released = new AbortController()
    const waiting = bus.stream('task:stream', { taskId }, { signal: released.signal })
    await waiting.next()
    const pending = waiting.next()
    released.abort(new Error('left home'))
    await expect(pending).rejects.toThrow('left home')
    ;(await held.asked(0)).answer.resolve({ text: 'Done' })
    expect(await engine.result(taskId)).toBe('Done')
    expect(bus.log({ abilityId: 'task:stream' }).map(({ ok }) => ok)).toEqual([true, false])
  })

  it('S1-021 C-15 task:stream of a failed task yields the error and then one end, also after earlier attempts', async () => {
    const hands = puppet()
    const { bus, engine } = await openManager({ executors: { work: hands.executor } })
    const task = await engine.create({ executor: 'work', goal: 'Try', retry: { maxAttempts: 2 } })
    const live = outputOf({ bus }, task.id)
    ;(await hands.started(0)).end.reject(new Error('one'))
    ;(await hands.started(1)).end.reject(new Error('two'))
    const expected = [
      { type: 'start', goal: 'Try' },
      { type: 'error', error: 'two' },
      { type: 'end', status: 'failed' },
    ]
    expect(inShort(await live)).toEqual(expected)
    expect(inShort(await outputOf({ bus }, task.id))).toEqual(expected)
  })

  it('S1-050 C-14 task:stream of a task that used up its steps yields that error', async () => {
    const { bus } = await openManager({
      model: createScriptedModel(() => ({ tools: [{ name: 'task_active', input: {} }] })),
      maxIterationsPerTask: 2,
    })
    const { taskId } = await bus.call('task:spawn', { goal: 'Turn' })
    const output = await outputOf({ bus }, taskId)
    expect(output.at(-2)).toMatchObject({
      type: 'error',
      error: expect.stringContaining('iterations reached') as string,
    })
    expect(output.at(-1)).toMatchObject({ type: 'end', status: 'failed' })
  })

  it('S1-021 C-15 task:stream of a killed task ends once and omits calls that never began', async () => {
    const held = heldModel()
    const { bus, engine } = await openManager({ model: held.model })
    const { taskId } = await bus.call('task:spawn', { goal: 'Ask' })
    const live = outputOf({ bus }, taskId)
    ;(await held.asked(0)).answer.resolve({ tools: [{ name: 'ask_user', input: { question: 'Well?' } }] })
    await reached(engine, taskId, 'input_required')
    await bus.call('task:kill', { taskId })
    expect(inShort(await live)).toEqual([
      { type: 'start', goal: 'Ask' },
      { type: 'end', status: 'killed' },
    ])
  })

  it('C-10 S1-014 task:stream omits announcements, questions and messages of others', async () => {
    const model = createScriptedModel([{ tools: [{ name: 'test_echo', input: { text: 'hi' } }] }, { text: 'Done' }])
    const { bus, engine } = await openManager({ model, abilities: [echo] })
    const { taskId } = await bus.call('task:spawn', { goal: 'Echo' })
    expect(textOf(await outputOf({ bus }, taskId))).toBe('Done')
    expect((await engine.messages(taskId)).filter(({ announcement }) => announcement)).toHaveLength(2)
  })

  it('task:stream yields the output of an executor, and arguments that are not an object as a value', async () => {
    const { bus, engine } = await openManager({
      executors: {
        work: async (_task: ExecutorTask, run: Run) => {
          run.emit('printed', { store: true })
          await run.call('look', 'sky', () => ({ color: 'blue' }))
          await run.call('rest', () => null)
        },
      },
    })
    const { id } = await engine.create({ executor: 'work' })
    await engine.result(id)
    expect(inShort(await outputOf({ bus }, id))).toEqual([
      { type: 'start', goal: 'work' },
      { type: 'tool_call', tool: 'look', args: { value: 'sky' } },
      { type: 'content', content: 'printed' },
      { type: 'tool_result', tool: 'look', result: '{"color":"blue"}' },
      { type: 'tool_call', tool: 'rest', args: {} },
      { type: 'tool_result', tool: 'rest', result: 'null' },
      { type: 'end', status: 'completed' },
    ])
  })

  it("S1-022 I25 task:stream refuses an unknown task, and a task outside the caller's own", async () => {
    const { bus, engine } = await openManager()
    const own = await engine.create({ name: 'own' })
    const outsider = await engine.create({ name: 'outsider' })
    const stream = (taskId: string, options = {}) => bus.stream('task:stream', { taskId }, options)
    await refusalOf(collect(stream('task-missing')), 'NOT_FOUND')
    await refusalOf(collect(stream(outsider.id, { caller: modelOf(own.id) })), 'FORBIDDEN')
    await refusalOf(bus.invoke('task:stream')(JSON.stringify({ taskId: own.id })), 'TYPE_MISMATCH')
  })
})

describe('The output of a message', () => {
  const base = { taskId: 'task-a', seq: 1 }
  const project = (pieces: ReadonlyArray<readonly [offset: number, content: string]>, stored: string): TaskOutput[] => {
    const projection = new OutputProjection((id) => id)
    return [
      ...pieces.map(([offset, content]) => ({ ...base, type: 'content' as const, messageId: 'm', offset, content })),
      { ...base, type: 'message' as const, messageId: 'm', role: 'assistant', content: stored, announcement: false },
    ].flatMap((item) => projection.outputOf(item))
  }

  it('S1-014 S1-017 the pieces of a message add up to exactly its text, whichever a reader received', () => {
    const text = 'Hello, you there'
    const pieces = [
      [0, 'Hello'],
      [5, ', '],
      [7, 'you '],
      [11, 'there'],
    ] as const
    for (let missed = 0; missed < 1 << pieces.length; missed++) {
      const got = pieces.filter((_, index) => (missed & (1 << index)) === 0)
      expect(textOf(project(got, text))).toBe(text)
    }
    expect(project(pieces, text)).toHaveLength(4)
  })
})
