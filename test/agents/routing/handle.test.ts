// How a message is handled: sent to the task that it mentions, executed as an intent, sent to the task that it belongs
// to, or used to create a task. Real engines, with models of the test.
import { describe, expect, it } from 'vitest'
import { createHandler } from '../../../src/agents/routing/handle.ts'
import { openTasks, routeInEngine } from '../../../src/agents/routing/handler-engine.ts'
import type { Run } from '../../../src/entities/executor.ts'
import { openEngine, reached, refusalOf, untilAborted } from '../../engine/world.ts'
import { contentOf, handling, scriptedModel } from './world.ts'

type Answers = Parameters<typeof scriptedModel>

/** A handler over an engine of its own, with a model that gives these answers. */
async function setup(...answers: Answers) {
  const tasks = await openEngine()
  const { engine, sent } = handling(tasks)
  const model = scriptedModel(...answers)
  return { tasks, engine, sent, model, handle: createHandler({ engine, model: model.ask }) }
}

const talk = { action: 'unknown', confidence: 0.9 }

describe('a message with a mention', () => {
  it('C-70 S0-036 S0-041 a message with a mention sends a message to the mentioned task, without a model call and without the mention', async () => {
    const { tasks, sent, model, handle } = await setup()
    const { id } = await tasks.create({ goal: 'Q1 report' })
    await tasks.create({ goal: 'Q2 report' })
    expect(await handle(`@${id} pause after the sales`)).toMatchObject({
      did: 'sent',
      task: { id },
      by: 'mention',
      confidence: 1,
    })
    expect(sent).toEqual([{ taskId: id, text: 'pause after the sales' }])
    expect(model.prompts).toEqual([])
  })

  it('S0-039 a message with a mention returns the status of the task for a bare mention', async () => {
    const { tasks, sent, handle } = await setup()
    const { id } = await tasks.create({ goal: 'Q1 report' })
    expect(await handle(`@${id}`)).toMatchObject({ did: 'status', task: { id }, by: 'mention', confidence: 1 })
    expect(sent).toEqual([])
  })

  it('S0-040 a mention of a settled or unknown task has no effect', async () => {
    const { tasks, sent, model, handle } = await setup()
    const done = await tasks.create({ goal: 'Q1 report' })
    await tasks.cancel(done.id)
    await tasks.create({ goal: 'Q2 report' })
    const handled = await handle(`@${done.id} go on`)
    expect(handled).toMatchObject({ did: 'nothing', task: { id: done.id, status: 'canceled' }, by: 'mention' })
    expect(handled.reason).toContain('canceled')
    expect(await handle('@task-zzz go on')).toMatchObject({ did: 'nothing', task: null, by: 'mention', confidence: 1 })
    expect(sent).toEqual([])
    expect(model.prompts).toEqual([])
    expect((await tasks.list()).total).toBe(2)
  })
})

describe('a message with an intent', () => {
  it('C-70 S3-106 an intent is executed, with the open tasks in the prompt of the model', async () => {
    const { tasks, sent, model, handle } = await setup()
    const report = await tasks.create({ name: 'Q1 report' })
    await tasks.start(report.id)
    const canceled = await tasks.create({ name: 'Q0 report' })
    await tasks.cancel(canceled.id)
    const wish = { action: 'pause_task', task_id: report.id, confidence: 0.8 }
    const recognizer = scriptedModel(wish)
    expect(await handle('Halt the report', { model: recognizer.ask })).toEqual({
      did: 'paused',
      task: await tasks.get(report.id),
      by: 'intent',
      confidence: 0.8,
      intent: { action: 'pause_task', taskId: report.id, confidence: 0.8, details: {} },
    })
    expect((await tasks.get(report.id))?.status).toBe('paused')
    const prompt = contentOf(recognizer.prompts[0], 'system')
    expect(prompt).toContain(report.id)
    expect(prompt).not.toContain(canceled.id)
    expect(model.prompts).toEqual([])
    expect(sent).toEqual([])
  })

  it('S3-106 a message with an intent creates a task whose goal is the message', async () => {
    const { tasks, handle } = await setup({
      action: 'create_task',
      confidence: 1,
      details: { name: 'Q2', priority: 3 },
    })
    await tasks.create({ goal: 'Q1 report' })
    expect(await handle('Please report on Q2')).toMatchObject({
      did: 'created',
      task: { goal: 'Please report on Q2', name: 'Q2', priority: 3 },
      by: 'intent',
    })
  })

  it('S3-106 a message with an intent reports a refusal of the engine instead of throwing it', async () => {
    const { tasks, handle } = await setup()
    const { id } = await tasks.create({ goal: 'Q1 report' })
    const { ask } = scriptedModel({ action: 'resume_task', task_id: id, confidence: 1 })
    const handled = await handle('Go on with the report', { model: ask })
    expect(handled).toMatchObject({
      did: 'nothing',
      task: { id, status: 'submitted' },
      by: 'intent',
      error: { code: 'INVALID_TRANSITION' },
    })
    expect(handled.reason).toContain(id)
  })

  it('S3-103 an intent about a task that is not open has no effect', async () => {
    const { tasks, handle } = await setup({ action: 'cancel_task', task_id: 'task-zzz', confidence: 1 })
    const { id } = await tasks.create({ goal: 'Q1 report' })
    expect(await handle('Cancel it')).toMatchObject({ did: 'nothing', task: null, by: 'intent' })
    expect((await tasks.get(id))?.status).toBe('submitted')
  })

  it.each([
    ['with too little confidence', 0.69, {}],
    ['below a threshold of its own', 0.9, { threshold: 0.95 }],
  ])('S3-104 a message with an intent treats %s as a message to a task', async (_how, confidence, options) => {
    const { tasks, sent, handle } = await setup()
    const { id } = await tasks.create({ goal: 'Q1 report' })
    const { ask } = scriptedModel({ action: 'cancel_task', task_id: id, confidence })
    const handled = await handle('Cancel the part on sales', { ...options, model: ask })
    expect(handled).toMatchObject({ did: 'sent', by: 'route', confidence: 1, intent: { action: 'cancel_task' } })
    expect(sent).toEqual([{ taskId: id, text: 'Cancel the part on sales' }])
  })

  it('a message with an intent treats an update without valid changes as a message to a task', async () => {
    const { tasks, sent, handle } = await setup({ action: 'update_task', confidence: 1, details: { quarter: 'Q2' } })
    const { id } = await tasks.create({ goal: 'Q1 report' })
    expect(await handle('Also check Q2')).toMatchObject({ did: 'sent', task: { id }, by: 'route' })
    expect(sent).toHaveLength(1)
  })

  it('a message with an intent asks for no intent when the option intent is false', async () => {
    const { tasks, model, handle } = await setup({ action: 'cancel_task', confidence: 1 })
    const { id } = await tasks.create({ goal: 'Q1 report' })
    const handled = await handle('Cancel the part on sales', { intent: false })
    expect(handled).toMatchObject({ did: 'sent', task: { id }, by: 'route' })
    expect(handled).not.toHaveProperty('intent')
    expect(model.prompts).toEqual([])
  })
})

describe('a message to a task', () => {
  it('S0-029 a message creates a task when none is open', async () => {
    const { tasks, handle } = await setup(talk)
    const handled = await handle('Write a report')
    expect(handled).toMatchObject({ did: 'created', by: 'route', confidence: 1, intent: { action: 'unknown' } })
    expect(await tasks.get(handled.task?.id as string)).toMatchObject({ goal: 'Write a report', status: 'submitted' })
  })

  it('S0-029 S0-034 a message to a task sends a message to the task that the model picks by the conversations', async () => {
    const talking = async (task: { input: { lines: string[] } }, run: Run) => {
      for (const line of task.input.lines) await run.message('user', line)
      return run.ask('Which quarter?')
    }
    const tasks = await openEngine({ executors: { talking, busy: untilAborted } })
    const { engine, sent } = handling(tasks)
    const asking = await tasks.create({ executor: 'talking', goal: 'Report', input: { lines: ['1', '2', '3', '4'] } })
    const busy = await tasks.create({ executor: 'busy', goal: 'Clean up' })
    await reached(tasks, asking, 'input_required')
    const { ask, prompts } = scriptedModel(talk, { taskId: asking.id, confidence: 0.8 })
    const handle = createHandler({ engine, model: ask })
    expect(await handle('Q2')).toMatchObject({ did: 'sent', task: { id: asking.id }, by: 'route', confidence: 0.8 })
    expect(sent).toEqual([{ taskId: asking.id, text: 'Q2' }])
    const shown = JSON.parse(contentOf(prompts[1], 'user')) as { tasks: Array<Record<string, unknown>> }
    expect(shown.tasks.map((task) => task['id'])).toEqual([asking.id, busy.id])
    expect(shown.tasks[0]).toMatchObject({ goal: 'Report', status: 'input_required', question: 'Which quarter?' })
    const recent = shown.tasks[0]?.['recentMessages'] as Array<{ content: string }>
    expect(recent).toHaveLength(3)
    expect(shown.tasks[0]?.['lastMessage']).toEqual(recent.at(-1))
  })

  it('S0-042 a message creates a task when the answer of the model is unusable, and reports the reason', async () => {
    const { tasks, handle } = await setup(new Error('down'), new Error('still down'))
    await tasks.create({ goal: 'Q1 report' })
    await tasks.create({ goal: 'Q2 report' })
    const handled = await handle('Also check Q3')
    expect(handled).toMatchObject({ did: 'created', task: { goal: 'Also check Q3' }, by: 'none', confidence: 0 })
    expect(handled.reason).toContain('still down')
    expect(handled.intent?.details['error']).toMatchObject({ message: 'down' })
  })

  it('S3-108 routes a message without any model among fewer than two tasks', async () => {
    const tasks = await openEngine()
    const { engine, sent } = handling(tasks)
    const handle = createHandler({ engine })
    const { task } = await handle('Write a report')
    expect(await handle('Also check Q2')).toMatchObject({ did: 'sent', task: { id: task?.id } })
    expect(sent).toEqual([{ taskId: task?.id, text: 'Also check Q2' }])
  })

  it('a message to a task reports a refusal when the task has settled meanwhile', async () => {
    const tasks = await openEngine()
    const { engine, sent } = handling(tasks)
    const first = await tasks.create({ goal: 'Q1 report' })
    await tasks.create({ goal: 'Q2 report' })
    const ask = async () => {
      await tasks.cancel(first.id)
      return JSON.stringify({ taskId: first.id })
    }
    const handled = await createHandler({ engine, model: ask })('Also check sales', { intent: false })
    expect(handled).toMatchObject({
      did: 'nothing',
      task: { id: first.id, status: 'canceled' },
      by: 'route',
      error: { code: 'INVALID_TRANSITION' },
    })
    expect(sent).toEqual([])
  })

  it('routes only among the children of parentId, or among the roots with rootsOnly', async () => {
    const { tasks, sent, handle } = await setup()
    const parent = await tasks.create({ goal: 'Year report' })
    const child = await tasks.create({ goal: 'Q1 report', parentId: parent.id })
    await handle('Also check sales', { intent: false, parentId: parent.id })
    await handle('Also check costs', { intent: false, rootsOnly: true })
    expect(sent).toEqual([
      { taskId: child.id, text: 'Also check sales' },
      { taskId: parent.id, text: 'Also check costs' },
    ])
    await tasks.cancel(child.id)
    const begun = await handle('Now Q2', { intent: false, parentId: parent.id })
    expect(begun).toMatchObject({ did: 'created', task: { goal: 'Now Q2', parentId: parent.id } })
    const both = handle('x', { parentId: parent.id, rootsOnly: true })
    expect((await refusalOf(both, 'INVALID_INPUT')).message).toContain('pass only one of them')
  })
})

describe('the arguments of handle', () => {
  it('handle refuses an invalid message, unknown options and invalid models', async () => {
    const { tasks, handle } = await setup()
    await refusalOf(handle(undefined as never), 'INVALID_INPUT')
    await refusalOf(handle(' \n'), 'INVALID_INPUT')
    await refusalOf(handle('x', { intents: false } as never), 'UNKNOWN_OPTION')
    await refusalOf(handle('x', { threshold: 1.5 }), 'INVALID_INPUT')
    await refusalOf(handle('x', { model: {} as never }), 'INVALID_INPUT')
    expect((await tasks.list()).total).toBe(0)
  })

  it('handle has no effects after its signal has aborted', async () => {
    const tasks = await openEngine()
    const controller = new AbortController()
    const ask = async () => {
      controller.abort(new Error('changed my mind'))
      return JSON.stringify({ action: 'create_task', confidence: 1 })
    }
    const handle = createHandler({ engine: handling(tasks).engine, model: ask })
    await expect(handle('Write a report', { signal: controller.signal })).rejects.toThrow('changed my mind')
    for (const [message, intent] of [
      ['@task-abc x', true],
      ['Write a report', false],
    ] as const) {
      await expect(handle(message, { intent, signal: controller.signal })).rejects.toThrow('changed my mind')
    }
    expect((await tasks.list()).total).toBe(0)
  })

  it('handle throws failures of the engine itself', async () => {
    const { tasks, handle } = await setup()
    await tasks.close()
    await refusalOf(handle('Write a report'), 'ENGINE_CLOSED')
  })
})

describe('engine.handle', () => {
  it('C-70 engine.handle sends, executes and creates, and records the messages in the ledger', async () => {
    const engine = await openEngine()
    const { task } = await engine.handle('Write a report')
    const id = task?.id as string
    expect(await engine.handle(`@${id} Also check Q2`)).toMatchObject({ did: 'sent', task: { id }, by: 'mention' })
    expect(await engine.handle('And Q3')).toMatchObject({ did: 'sent', task: { id }, by: 'route' })
    const said = (await engine.messages(id)).filter((message) => message.role === 'user')
    expect(said.slice(-2).map((message) => message.content)).toEqual(['Also check Q2', 'And Q3'])
    const { ask } = scriptedModel({ action: 'cancel_task', task_id: id, confidence: 1 })
    expect(await engine.handle('Stop the report', { model: ask })).toMatchObject({
      did: 'canceled',
      task: { id, status: 'canceled' },
      by: 'intent',
    })
  })
})

describe('routeInEngine', () => {
  it('S0-043 every unsettled task is a candidate of routing, children and blocked tasks included', async () => {
    const tasks = await openEngine()
    const { engine } = handling(tasks)
    const root = await tasks.create({ goal: 'Year report' })
    const child = await tasks.create({ goal: 'Q1 report', parentId: root.id })
    const blocked = await tasks.create({ goal: 'Q2 report', blockedBy: [child.id] })
    const done = await tasks.create({ goal: 'Q0 report' })
    await tasks.cancel(done.id)
    const idsOf = async (scope = {}) => (await openTasks(engine, scope)).map((task) => task.id)
    expect(await idsOf()).toEqual([root.id, child.id, blocked.id])
    expect(await idsOf({ rootsOnly: true })).toEqual([root.id, blocked.id])
    expect(await idsOf({ parentId: root.id })).toEqual([child.id])
  })

  it('S0-036 S0-040 routing a mention lists no tasks and reads only the mentioned one', async () => {
    const tasks = await openEngine()
    const { engine } = handling(tasks)
    const { id } = await tasks.create({ goal: 'Q1 report' })
    const { ask, prompts } = scriptedModel()
    const listed: unknown[] = []
    const watched = {
      get: engine.get,
      messages: engine.messages,
      list: async (options: object) => {
        listed.push(options)
        return engine.list(options)
      },
    }
    expect(await routeInEngine(watched, `@${id} go on`, { ask })).toMatchObject({ taskId: id, text: 'go on' })
    await tasks.cancel(id)
    expect(await routeInEngine(watched, `@${id} go on`, { ask })).toMatchObject({ taskId: null, confidence: 1 })
    expect(listed).toEqual([])
    expect(await routeInEngine(watched, 'go on', { ask })).toMatchObject({ taskId: null, by: 'candidates' })
    expect(listed).toHaveLength(1)
    expect(prompts).toEqual([])
    await refusalOf(routeInEngine(watched, 7 as never, { ask }), 'INVALID_INPUT')
  })
})
