// The option `redact`: every part continues with the stored values, from the first run on; an engine whose hook fails
// stores nothing.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { createShell, defineExecutor, Failure, type RedactFunction } from '../../src/index.ts'
import { echo, llm, said } from '../agents/world.ts'
import { openManager } from '../compat/agent-os/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { collect, history, ledgerFile, openEngine, reached, refusalOf } from './world.ts'

const redact = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('canary', '[redacted]') : value

describe('the option redact', () => {
  it('the option redact changes the templates of handlers before they are stored', async () => {
    const ledger = ledgerFile()
    const executors = { broken: () => Promise.reject(new Error('down')), handles: () => null }
    const onInputRequired = { executor: 'handles', input: 'canary' }
    const engine = (await openEngine({ ledger, redact, executors, onInputRequired })) as unknown as Engine
    const [task] = await engine.create([
      { executor: 'broken', onFailure: { executor: 'handles', name: 'canary', input: { password: 'canary' } } },
      { executor: 'broken', onFailure: { goal: 'use canary', systemPrompt: 'canary', metadata: { of: 'canary' } } },
    ])
    await reached(engine, task as Task, 'failed')
    const [handler] = (await engine.list({ system: true })).tasks
    await engine.settled((handler as Task).id)
    await engine.close()
    expect(readFileSync(ledger).includes('canary')).toBe(false)
    expect(await violationsIn(ledger)).toEqual([])
  })

  it('V-10 the option redact gives an executor in its first run the values that it gets after a restart', async () => {
    const seen: unknown[][] = []
    const work = async (task: ExecutorTask, run: Run) => {
      const mine: unknown[] = [task.input]
      seen.push(mine)
      mine.push(await run.call('look', { key: 'canary' }, (params) => [params, 'canary']))
      mine.push(
        await run.call('break', () => Promise.reject(new Error('a canary'))).catch((error: Error) => error.message),
      )
      mine.push(await run.message('user', 'canary'))
      mine.push(await run.ask('canary?'))
      return mine.length
    }
    const engine = (await openEngine({ executors: { work }, redact })) as unknown as Engine
    const task = await engine.create({ executor: 'work', input: { key: 'canary' } })
    await reached(engine, task, 'input_required')
    await engine.answer(task, 'yes, canary')
    expect(await engine.result(task)).toBe(5)
    const [first, second] = seen as [unknown[], unknown[]]
    expect(second.slice(0, 4)).toEqual(first)
    expect(second[4]).toBe('yes, [redacted]')
    // The function of a call gets the unredacted arguments of the executor; its result is redacted.
    expect(first[1]).toEqual([{ key: '[redacted]' }, '[redacted]'])
    expect(await engine.calls(task)).toHaveLength(2)
    expect((await engine.messages(task)).filter(({ role }) => role === 'user')).toMatchObject([
      { content: '[redacted]' },
    ])
  })

  it('V-10 the option redact hides what a schema makes of an input and of an answer, from the first run on', async () => {
    const file = ledgerFile()
    const seen: unknown[] = []
    const secret = z.object({ name: z.string(), key: z.string().default('canary') })
    const work = defineExecutor({
      input: secret,
      async run({ input }, run) {
        seen.push([input, await run.ask('Who?', secret, { key: 'who' })])
        await run.ask('Go on?')
      },
    })
    const engine = (await openEngine({ ledger: file, executors: { work }, redact })) as unknown as Engine
    engine.subscribe('question.asked', ({ taskId }) => void engine.answer(taskId, { name: 'ann' }))
    await engine.result(await engine.create({ executor: 'work', input: { name: 'bob' } }))
    const hidden = [
      { name: 'bob', key: '[redacted]' },
      { name: 'ann', key: '[redacted]' },
    ]
    expect(seen).toEqual([hidden, hidden])
    await engine.close()
    expect(readFileSync(file).includes('canary')).toBe(false)
  })

  it('V-10 the option redact lets the function of a call use a secret that is not stored', async () => {
    const used: unknown[] = []
    const work = (_task: ExecutorTask, run: Run) =>
      run.call('use', { key: 'canary' }, (params) => used.push(params) && 'done')
    const engine = (await openEngine({ executors: { work }, redact })) as unknown as Engine
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toBe('done')
    expect(used).toEqual([{ key: 'canary' }])
    expect(await engine.calls(task)).toMatchObject([{ params: { key: '[redacted]' } }])
  })

  it('V-10 the option redact finds a task that is created again under its key, and derives names from the redacted text', async () => {
    const engine = (await openEngine({ executors: { work: () => 1 }, redact })) as unknown as Engine
    const spec = { key: 'k', executor: 'work', input: { key: 'canary' } }
    const task = await engine.create(spec)
    expect((await engine.create(spec)).id).toBe(task.id)
    const long = await engine.create({ goal: `${'x'.repeat(74)}canary`, role: 'r' })
    expect(long.name).toBe(`${'x'.repeat(74)}[redac`)
  })

  it('V-10 the option redact hides what a model passes to a tool under its key, and streams no token of it', async () => {
    const model = llm((_input, step) =>
      step === 1
        ? { content: 'can', toolCalls: [{ id: 'c', name: 'test_echo', arguments: { text: 'canary' } }] }
        : { content: 'the canary' },
    )
    const byKey = (value: unknown, path: readonly string[]): unknown =>
      path.at(-1) === 'text' ? '[hidden]' : redact(value)
    const engine = (await openEngine({ abilities: [model.ability, echo], redact: byKey })) as unknown as Engine
    const task = await engine.create({ goal: 'Say it' })
    const items = await collect(engine.stream(task))
    expect(items.filter(({ type }) => type === 'content')).toEqual([])
    expect(await engine.result(task)).toBe('the [redacted]')
    expect(await said(engine, task)).toContain('assistant: the [redacted]')
    expect(JSON.stringify([await engine.messages(task), await engine.calls(task)])).not.toContain('canary')
    expect(await engine.calls(task)).toMatchObject([{ params: { text: '[hidden]' }, result: '[hidden]' }])
  })

  it('V-10 the option redact hides why what is open below a group that cannot move is canceled', async () => {
    const executors = { fail: () => Promise.reject(new Error('no')), work: () => 1 }
    const engine = (await openEngine({ executors, redact })) as unknown as Engine
    const tasks = { a: { executor: 'fail' }, b: { executor: 'work', after: ['a'] } }
    const group = await engine.create({ name: 'group', tasks })
    expect(await engine.settled(group)).toMatchObject({ status: 'failed', error: { code: 'GROUP_STUCK' } })
    await engine.cancel(group, 'a canary')
    const [, open] = await engine.children(group)
    expect(open).toMatchObject({ status: 'canceled', statusReason: 'a [redacted]' })
    expect(JSON.stringify(await history(engine, open?.id as string))).not.toContain('canary')
  })

  it('V-10 the option redact still finds the processes of a command', async () => {
    const engine = (await openEngine({
      executors: { shell: createShell() },
      redact: (value) => (typeof value === 'string' ? value.replaceAll('ERRAND', '[redacted]') : value),
    })) as unknown as Engine
    const task = await engine.create({ executor: 'shell', input: { run: 'true', shell: '/bin/sh' } })
    await engine.settled(task)
    const [call] = await engine.calls(task)
    expect((call?.details as { processGroup: { mark: string } } | null)?.processGroup.mark).toContain('ERRAND_CALL_ID=')
  })

  it('V-10 the option redact finds a call of Agent OS again, whose parameters are compared with the stored ones', async () => {
    const { call: use } = await openManager({ redact })
    const taskId = 'task-mine'
    await use('ldg:task:save', { task: { id: taskId } })
    const call = { id: 'c1', taskId, abilityName: 'a', parameters: '{"k":"canary"}', status: 'pending' }
    await use('ldg:call:save', { call })
    await use('ldg:call:save', { call: { ...call, status: 'in_progress' } })
    const listed = JSON.stringify(await use('ldg:call:list', { taskId }))
    expect(listed).toContain('in_progress')
    expect(listed).not.toContain('canary')
  })

  it('V-10 the option redact stores nothing when the hook fails, and reports REDACT_FAILED', async () => {
    const fails = (value: unknown): unknown => {
      if (value === 'canary') throw new Error('canary')
      return value
    }
    const ledger = ledgerFile()
    const engine = (await openEngine({
      ledger,
      executors: { work: () => 'canary', call: (_task: ExecutorTask, run: Run) => run.call('c', () => 'canary') },
      redact: fails,
    })) as unknown as Engine
    const refusal = await refusalOf(engine.create({ executor: 'work', input: { key: 'canary' } }), 'REDACT_FAILED')
    expect(refusal.details).toEqual({ path: ['task', 'input', 'key'] })
    expect((await engine.list()).total).toBe(0)
    // The call has been made: its result is lost, and it is not made again.
    for (const [executor, code] of [
      ['work', 'REDACT_FAILED'],
      ['call', 'INVALID_RESULT'],
    ] as const) {
      const task = await engine.create({ executor })
      expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code } })
    }
    await refusalOf(engine.cancel(await engine.create({ name: 'a', role: 'r' }), 'canary'), 'REDACT_FAILED')
    await engine.close()
    expect(readFileSync(ledger, 'latin1')).not.toContain('canary')
  })

  it.each([
    ['the error of a task', 'task.error.message', { code: 'REDACT_FAILED' }],
    ['the error in an event', 'event.error.message', { code: 'TASK_FAILED' }],
    ['the message to a parent', 'message.content', { code: 'REDACT_FAILED' }],
  ])('V-10 the option redact ends a run of which %s cannot be redacted', async (_what, place, error) => {
    const reported: unknown[] = []
    const engine = (await openEngine({
      executors: {
        work: () => {
          throw new Error('a canary')
        },
        parent: async (_task: ExecutorTask, run: Run) => {
          const child = await run.spawn({ executor: 'work', notifyParent: true })
          return run.wait(child, { settled: true })
        },
      },
      onError: (thrown) => reported.push(thrown),
      redact: (value, path) => {
        if (path.join('.') === place && String(value).includes('canary')) throw new Error('broken')
        return value
      },
    })) as unknown as Engine
    const parent = await engine.create({ executor: 'parent' })
    expect(await engine.result(parent)).toMatchObject({ status: 'failed', error })
    const [run] = await engine.runs((await engine.list({ parentId: parent.id })).tasks[0] as never)
    expect(run).toMatchObject({ status: 'closed', outcome: 'failed' })
  })

  it('V-10 redact records a call without its result when an event with it cannot be redacted', async () => {
    const work = (_task: ExecutorTask, run: Run) =>
      run.call('look', () => 'canary').catch((error: { code?: string }) => error.code)
    const engine = (await openEngine({
      executors: { work },
      onError: () => {},
      redact: (value, path) => {
        if (path.join('.') === 'event.result' && value === 'canary') throw new Error('broken')
        return value
      },
    })) as unknown as Engine
    const task = await engine.create({ executor: 'work' })
    expect(await engine.result(task)).toBe('INVALID_RESULT')
    expect(await engine.calls(task)).toMatchObject([
      { status: 'completed', result: null, resultLost: expect.stringContaining('`redact`') },
    ])
  })

  it('V-10 the option redact does not redact who may answer a question and who did', async () => {
    const work = (_task: ExecutorTask, run: Run) => run.ask('canary?', null, { for: 'anyone' })
    const engine = (await openEngine({ executors: { work }, redact: () => '[redacted]' })) as unknown as Engine
    const task = await engine.create({ executor: 'work' })
    const { questions } = await reached(engine, task, 'input_required')
    expect(questions).toMatchObject([{ for: 'anyone' }])
    await engine.answer(task, 'canary')
    expect(await engine.result(task)).toBe('[redacted]')
    const events = await collect(engine.events({ taskId: task.id, follow: false }))
    const answered = events.find(({ type }) => type === 'task.answered')
    expect(answered?.data).toMatchObject({ answer: '[redacted]', answeredBy: { surface: 'library' } })
  })

  it('V-10 the option redact is shown why an owner released a task', async () => {
    const engine = (await openEngine({ redact })) as unknown as Engine
    for (const rest of ['working', 'paused']) {
      const task = await engine.create({ name: rest, role: 'r' })
      const claimed = await engine.claim(task, { owner: 'ann', role: 'r' })
      if (rest === 'paused') await engine.pause(task)
      await engine.release(claimed as NonNullable<typeof claimed>, { reason: 'no canary' })
      const events = await collect(engine.events({ taskId: task.id, follow: false }))
      expect(events.find(({ type }) => type === 'task.released')?.data).toMatchObject({ reason: 'no [redacted]' })
    }
  })

  it('V-10 the option redact stops no task, whatever the hook makes of it: what the engine goes by is no content', async () => {
    const drawn: unknown[] = []
    const work = async (_task: ExecutorTask, run: Run) => {
      drawn.push(await run.uuid())
      const children = await run.spawn([{ executor: 'child' }, { executor: 'idle' }])
      const [first] = await run.wait(children, { mode: 'any', settled: true })
      await run.sleep(5)
      return [first, await run.ask('canary?')]
    }
    const idle = (_task: ExecutorTask, run: Run) => run.sleep(1e9)
    const engine = (await openEngine({
      executors: { work, idle, child: () => 'canary' },
      redact: () => '[redacted]',
    })) as unknown as Engine
    const task = await engine.create({ executor: 'work', autoComplete: false })
    expect((await reached(engine, task, 'input_required')).questions).toMatchObject([{ question: '[redacted]' }])
    await engine.answer(task, 'canary')
    await engine.settled(task)
    expect(new Set(drawn).size).toBe(1)
    const byHand = await engine.create({ name: 'n', role: 'r' })
    const claimed = await engine.claim(byHand, { owner: 'ann', role: 'r' })
    await engine.pause(byHand)
    await engine.release(claimed as NonNullable<typeof claimed>)
    await engine.resume(byHand)
    expect(await engine.claim(byHand, { owner: 'bob', role: 'r' })).toMatchObject({ status: 'working' })
  })

  it('V-10 the option redact leaves a question answerable that asks for what the hook hides, and hides the answer', async () => {
    const schema = z.object({ password: z.string().describe('the canary') })
    const work = (_task: ExecutorTask, run: Run) => run.ask('Who?', schema)
    const byKey: RedactFunction = (value, path) => (path.at(-1) === 'password' ? '[hidden]' : redact(value))
    const engine = (await openEngine({ executors: { work }, redact: byKey })) as unknown as Engine
    const task = await engine.create({ executor: 'work' })
    const { questions } = await reached(engine, task, 'input_required')
    const properties = { password: { type: 'string', description: 'the [redacted]' } }
    expect(questions).toMatchObject([{ schema: { properties } }])
    const events = await collect(engine.events({ taskId: task.id, follow: false }))
    expect(events.find(({ type }) => type === 'question.asked')?.data).toMatchObject({ schema: { properties } })
    await engine.answer(task, { password: 'x' })
    expect(await engine.result(task)).toEqual({ password: '[hidden]' })
  })

  it('V-10 the option redact hides what lies under a key in the details of an error that are too large to be stored', async () => {
    const ledger = ledgerFile()
    const fails = () => {
      throw new Failure('no', { details: { password: 'canary', rest: 'x'.repeat(20_000) } })
    }
    const engine = (await openEngine({
      ledger,
      executors: { fails, calls: (_task: ExecutorTask, run: Run) => run.call('c', fails) },
      redact: (value, path) => (path.at(-1) === 'password' ? '[hidden]' : value),
    })) as unknown as Engine
    for (const executor of ['fails', 'calls']) await engine.settled(await engine.create({ executor }))
    await engine.close()
    expect(readFileSync(ledger, 'latin1')).not.toContain('canary')
  })
})
