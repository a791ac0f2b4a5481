// A subtask that notifies its parent of its end, and commands in the background, which do so: the agent reads the
// notification once, before its next step, whatever comes in between.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandAbilities } from '../../src/commands/operations/command-abilities.ts'
import { isAlive, processGroupOf } from '../../src/commands/process-group.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { createFaultyLedger } from '../../src/testing/faulty-ledger.ts'
import { createPlace } from '../crash/child.ts'
import { deferred, history, openEngine, puppet, reached, refusalOf } from '../engine/world.ts'
import { background, look, notificationsIn, wait, withCommands } from './background-world.ts'
import { inShort, llm, said, tool } from './world.ts'

describe('a command in the background', () => {
  it('S4-062 the end of a background command is notified to the agent once, before the next call of the model', async () => {
    const { folder } = createPlace()
    execFileSync('mkfifo', [join(folder, 'gate')])
    const model = llm((_input, step) => {
      if (step === 1) return background('cat gate; echo well >&2', 'b', 'the build')
      return step < 4 ? look(`${step}`) : { content: 'Done.' }
    })
    const open = tool('test:look', async (_input, { caller }) => {
      const [child] = (await engine.children(caller.taskId as string)) as [Task]
      if ((await engine.get(child))?.status !== 'completed') await writeFile(join(folder, 'gate'), 'built\n')
      await engine.settled(child)
      return 'looked'
    })
    const engine = (await openEngine({ abilities: [model.ability, open, ...commandAbilities(folder)] })) as Engine
    const task = await engine.create({ goal: 'Build it' })
    expect(await engine.result(task)).toBe('Done.')
    const [child] = await engine.children(task)
    const notified = `user: [background] ${child?.id} "the build" completed: exit 0\nstdout:\nbuilt\nstderr:\nwell`
    expect(inShort(model.messages(2)).slice(3)).toEqual([`tool b: {"taskId":"${child?.id}"}`])
    expect(inShort(model.messages(3)).slice(-2)).toEqual(['tool 2: looked', notified])
    expect(inShort(model.messages(4)).slice(-3)).toEqual([notified, 'assistant:  3=test_look({})', 'tool 3: looked'])
    expect(notificationsIn(model.messages(4))).toHaveLength(1)
    expect(child).toMatchObject({ executor: 'shell', parentId: task.id, input: { cwd: folder } })
  })

  it('S4-062 the notification of a background command is written in the transaction of its end', async () => {
    const { engine } = await withCommands([background('true'), look('1')])
    const task = await engine.create({ goal: 'Build it' })
    await engine.result(task)
    const [child] = await engine.children(task)
    const events = await history(engine)
    const end = events.findIndex(({ type, taskId }) => type === 'task.completed' && taskId === child?.id)
    expect(events[end + 1]).toMatchObject({ type: 'message.appended', taskId: task.id, at: events[end]?.at })
    expect((await engine.messages(task)).find(({ content }) => content.startsWith('[background]'))).toMatchObject({
      role: 'user',
      delivery: 'steer',
      run: null,
      announcement: false,
      content: `[background] ${child?.id} "true" completed: exit 0, no output`,
    })
  })

  it('S4-062 an agent is notified of each of several background commands', async () => {
    const calls = ['one', 'two', 'three'].flatMap((name) => background(`echo ${name}`, name, name).toolCalls ?? [])
    const { engine, model } = await withCommands([{ toolCalls: calls }, look('1'), look('2')])
    const task = await engine.create({ goal: 'Build them' })
    await engine.result(task)
    const notified = notificationsIn(model.messages(3)).map((each) => each?.split('\n').at(-1))
    expect(new Set(notified)).toEqual(new Set(['one', 'two', 'three']))
    expect(notificationsIn(model.messages(4))).toHaveLength(3)
  })

  it('S4-062 the notification of a failure has the exit code and the end of the output', async () => {
    const { engine, model } = await withCommands([
      background('seq 1 100000; echo broken >&2; exit 3', 'b', 'the build'),
      look('1'),
    ])
    const task = await engine.create({ goal: 'Build it' })
    await engine.result(task)
    const [notified = ''] = notificationsIn(model.messages(3))
    expect(notified).toMatch(/^\[background\] task-\S+ "the build" failed: exit 3\nstdout:\n…/)
    expect(notified).toMatch(/\n99999\n100000\nstderr:\nbroken$/)
    expect(notified?.length).toBeLessThan(2_300)
  })

  it('S4-062 the end of a background command wakes an agent that waits for its subtasks', async () => {
    const { engine, model } = await withCommands([background('echo built'), wait])
    const task = await engine.create({ goal: 'Build it' })
    expect(await engine.result(task)).toBe('Done.')
    expect(notificationsIn(model.messages(3))).toHaveLength(1)
    expect((await engine.calls(task)).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'shell:background completed',
      'wait_for_tasks completed',
    ])
  })

  it('S4-062 a background command runs for a waiting agent even if there is only one slot', async () => {
    const { engine, model } = await withCommands([background('echo built'), wait], { maxConcurrent: 1 })
    const task = await engine.create({ goal: 'Build it' })
    expect(await engine.result(task)).toBe('Done.')
    expect(notificationsIn(model.messages(3))).toHaveLength(1)
  })

  it('S4-062 a background command ends with a canceled task, without a notification', async () => {
    const { engine } = await withCommands([background('echo started; sleep 300'), wait])
    const task = await engine.create({ goal: 'Build it' })
    await reached(engine, task, 'waiting')
    const [child] = (await engine.children(task)) as [Task]
    for await (const item of engine.stream(child)) if (item.type === 'content') break
    const group = processGroupOf((await engine.calls(child))[0]?.details)
    if (group === undefined) throw new Error('No process group was noted.')
    expect(await isAlive(group)).toBe(true)
    await engine.cancel(task)
    for await (const { type } of engine.events({ taskId: child.id })) if (type === 'run.closed') break
    expect(await isAlive(group)).toBe(false)
    expect((await engine.get(child))?.status).toBe('canceled')
    expect((await said(engine, task)).filter((line) => line.includes('[background]'))).toEqual([])
  })

  it('S4-062 a background command is started once, however often the call that starts it is repeated', async () => {
    const { ability } = llm((_input, step) => (step === 1 ? background('echo built') : { content: 'Done.' }))
    const ledger = createFaultyLedger(await openLedger(':memory:'))
    onTestFinished(() => ledger.close())
    const first = (await openEngine({
      ledger,
      abilities: [ability, ...commandAbilities(tmpdir())],
      shutdownTimeoutMs: 0,
    })) as Engine
    // The child exists; the end of the call is not recorded.
    const gate = ledger.hold('finish call')
    const task = await first.create({ goal: 'Build it' })
    await gate.reached
    await first.close()
    gate.open()
    const second = (await openEngine({ ledger, abilities: [ability, ...commandAbilities(tmpdir())] })) as Engine
    expect(await second.result(task)).toBe('Done.')
    expect((await second.calls(task)).map(({ name, status }) => `${name} ${status}`)).toEqual([
      'shell:background failed',
      'shell:background completed',
    ])
    expect(await second.children(task)).toHaveLength(1)
  })
})

describe('a subtask with notifyParent', () => {
  const notifying = (parent: { id: string }, name = 'child') => ({ name, parentId: parent.id, notifyParent: true })
  const linesOf = async (engine: Engine, task: { id: string }) =>
    (await engine.messages(task.id)).map(({ content }) => content).filter((line) => line.startsWith('[background]'))

  /** Worked on by hand, like its children. */
  async function byHand(options: object = {}) {
    const engine = (await openEngine()) as Engine
    const parent = await engine.create({ name: 'parent', ...options })
    await engine.start(parent)
    return { engine, parent }
  }

  it('a subtask with notifyParent notifies its parent of its result, its error or its cancellation', async () => {
    const { engine, parent } = await byHand()
    const names = ['text', 'data', 'nothing', 'failed', 'canceled', 'silent']
    const [text, data, nothing, failed, canceled, silent] = (await engine.create(
      names.map((name) => ({ ...notifying(parent, name), notifyParent: name !== 'silent' })),
    )) as [Task, Task, Task, Task, Task, Task]
    for (const task of [text, data, nothing, failed, silent]) await engine.start(task)
    await engine.complete(text, 'x'.repeat(3_000))
    await engine.complete(data, { pages: 3 })
    await engine.complete(nothing)
    await engine.fail(failed, 'no paper')
    await engine.cancel(canceled, 'not needed')
    await engine.complete(silent, 'ignored')
    expect(await linesOf(engine, parent)).toEqual([
      `[background] ${text.id} "text" completed: ${'x'.repeat(2_000)}…`,
      `[background] ${data.id} "data" completed: {"pages":3}`,
      `[background] ${nothing.id} "nothing" completed`,
      `[background] ${failed.id} "failed" failed: no paper`,
      `[background] ${canceled.id} "canceled" was canceled: not needed`,
    ])
  })

  it('a subtask with notifyParent notifies its parent of each final attempt, not of one that is followed by another', async () => {
    const hands = puppet()
    const engine = (await openEngine({ executors: { work: hands.executor } })) as Engine
    const parent = await engine.create({ name: 'parent' })
    const [child] = (await engine.create([{ ...notifying(parent), executor: 'work', retry: { maxAttempts: 2 } }])) as [
      Task,
    ]
    ;(await hands.started(0)).end.reject(new Error('first'))
    ;(await hands.started(1)).end.reject(new Error('second'))
    await engine.settled(child)
    await engine.retry(child)
    ;(await hands.started(2)).end.resolve('third')
    await engine.settled(child)
    expect(await linesOf(engine, parent)).toEqual([
      `[background] ${child.id} "child" failed: second`,
      `[background] ${child.id} "child" completed: third`,
    ])
  })

  it('a subtask with notifyParent notifies no parent that has ended', async () => {
    const { engine, parent } = await byHand()
    const child = await engine.create(notifying(parent))
    await engine.start(child)
    await engine.fail(parent, 'enough')
    await engine.complete(child)
    expect(await linesOf(engine, parent)).toEqual([])
  })

  it('a subtask with notifyParent is refused when no agent would read the notification', async () => {
    const { engine } = await byHand()
    const group = await engine.create({ name: 'group', tasks: { one: { name: 'one' } } })
    const root = await refusalOf(engine.create({ name: 'root', notifyParent: true }), 'INVALID_INPUT')
    expect(root.message).toContain('it has no parent')
    const inGroup = await refusalOf(engine.create(notifying(group)), 'INVALID_INPUT')
    expect(inGroup.message).toContain('is a group')
    expect(inGroup.details).toMatchObject({ option: 'notifyParent' })
    await refusalOf(engine.create({ name: 'group', tasks: { one: { notifyParent: true } } }), 'INVALID_INPUT')
    expect((await engine.list()).total).toBe(3)
  })

  it('a subtask with notifyParent notifies a parent that continues of the siblings canceled by its failure', async () => {
    const { engine, parent } = await byHand({ onChildFailure: 'cancel-siblings' })
    const failing = await engine.create(notifying(parent, 'failing'))
    const sibling = await engine.create(notifying(parent, 'sibling'))
    const done = await engine.create(notifying(parent, 'done'))
    for (const task of [failing, done]) await engine.start(task)
    await engine.complete(done)
    await engine.fail(failing, 'no paper')
    expect(await linesOf(engine, parent)).toEqual([
      `[background] ${done.id} "done" completed`,
      `[background] ${failing.id} "failing" failed: no paper`,
      `[background] ${sibling.id} "sibling" was canceled: child ${failing.id} failed`,
    ])
  })

  it('a subtask with notifyParent does not answer the question of its parent, which reads the notification with the answer', async () => {
    const ask = { toolCalls: [{ id: 'q', name: 'ask_user', arguments: { question: 'Which?' } }] }
    const model = llm((_input, step) => (step === 1 ? ask : { content: 'Thanks.' }))
    const engine = (await openEngine({ abilities: [model.ability] })) as Engine
    const task = await engine.create({ goal: 'Ask' })
    await reached(engine, task, 'input_required')
    const child = await engine.create(notifying(task))
    await engine.start(child)
    await engine.complete(child, 'done')
    expect(await engine.get(task)).toMatchObject({ status: 'input_required', questions: [{ question: 'Which?' }] })
    await engine.answer(task, 'this one')
    expect(await engine.result(task)).toBe('Thanks.')
    expect(inShort(model.messages(2)).slice(-2)).toEqual([
      'tool q: this one',
      `user: [background] ${child.id} "child" completed: done`,
    ])
  })

  it('a subtask with notifyParent leaves a paused parent paused, which reads the notification after it resumes', async () => {
    const begun = deferred()
    const model = llm((_input, step) => {
      begun.resolve()
      return step === 1 ? new Promise<never>(() => {}) : { content: 'Done.' }
    })
    const engine = (await openEngine({ abilities: [model.ability], abortGraceMs: 0 })) as Engine
    const task = await engine.create({ goal: 'Work' })
    const child = await engine.create(notifying(task))
    await begun.promise
    await engine.pause(task)
    await engine.start(child)
    await engine.complete(child, 'done')
    expect((await engine.get(task))?.status).toBe('paused')
    await engine.resume(task)
    expect(await engine.result(task)).toBe('Done.')
    expect(notificationsIn(model.messages(2))).toEqual([`[background] ${child.id} "child" completed: done`])
  })

  it.each(['settle run', 'begin wait', 'suspend'])(
    'a notification of a subtask is read by a parent that is at its step "%s" when the notification comes',
    async (step) => {
      const ledger = createFaultyLedger(await openLedger(':memory:'))
      onTestFinished(() => ledger.close())
      const model = llm((_input, taken) =>
        taken === 1 ? (step === 'settle run' ? { content: 'An answer.' } : wait) : { content: 'Now I know.' },
      )
      const engine = (await openEngine({ ledger, abilities: [model.ability] })) as Engine
      const task = await engine.create({ goal: 'Work', autoStart: false })
      const [child] = (await engine.create([notifying(task), { name: 'other', parentId: task.id }])) as [Task, Task]
      await engine.start(child)
      const gate = ledger.hold(step)
      await engine.start(task)
      await gate.reached
      await engine.complete(child, 'done')
      gate.open()
      expect(await engine.result(task)).toBe('Now I know.')
      expect(notificationsIn(model.messages(2))).toEqual([`[background] ${child.id} "child" completed: done`])
      await engine.close()
    },
  )

  it('a subtask with notifyParent keeps a parent that has answered from being completed before it reads the notification', async () => {
    const model = llm((_input, step) => ({ content: `Answer ${step}` }))
    const engine = (await openEngine({ abilities: [model.ability], autoComplete: true })) as Engine
    const task = await engine.create({ goal: 'Work', autoStart: false })
    const child = await engine.create(notifying(task))
    await engine.start(task)
    await reached(engine, task, ({ status, statusReason }) => status === 'waiting' && statusReason === 'children')
    await engine.start(child)
    await engine.complete(child, 'done')
    expect(await engine.result(task)).toBe('Answer 2')
    expect(notificationsIn(model.messages(2))).toEqual([`[background] ${child.id} "child" completed: done`])
  })
})
