// Ids that a program gives, and the details of calls that failed or were canceled.
import { expect, it } from 'vitest'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { extractMention } from '../../../src/agents/routing/mention.ts'
import { tool } from '../../agents/world.ts'
import { deferred } from '../../engine/world.ts'
import { openManager } from './world.ts'

const ids = ['2f1c9a52-7b1e-4d0a-9c55-0f6f2f6a1b3c', 'task-2f1c9a52-7b1e-4d0a-9c55-0f6f2f6a1b3d', 'Order_17']

it.each(ids)(
  'S0-083 ldg:task:save takes the id %s, by which the task is found, as a whole and by its beginning',
  async (id) => {
    const { engine, call } = await openManager()
    expect(await call('ldg:task:save', { task: { id } })).toEqual({ success: true })
    expect((await engine.find(id))?.id).toBe(id)
    expect((await engine.find(id.slice(0, 7)))?.id).toBe(id)
    await engine.block(await engine.create({ name: 'after' }), id)
    expect((await call('ldg:task:get', { taskId: id }))['task']).toMatchObject({ id })
  },
)

it('S0-083 ldg:task:save refuses an id with other characters', async () => {
  const { call } = await openManager()
  for (const id of ['', '-a', 'a b', 'a/b', 'ä', 'x'.repeat(129)])
    await expect(call('ldg:task:save', { task: { id } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

it('a message mentions a task by a UUID, with or without `task-`', () => {
  for (const id of ids.slice(0, 2)) expect(extractMention(`@${id} go on`)).toEqual({ taskId: id, text: 'go on' })
  expect(extractMention('@ada go on')).toBeNull()
})

it('S0-015 S0-070 ldg:call:list shows the stack of a failed tool, not that of the bus', async () => {
  function deepInTheTool(): never {
    throw new TypeError('kaput')
  }
  const { engine, call } = await openManager({
    abilities: [tool('x:boom', () => deepInTheTool())],
    model: createScriptedModel([{ tools: [{ name: 'x_boom', input: {} }] }, { text: 'ok' }]),
  })
  const { taskId } = (await call('task:create', { goal: 'g' })) as { taskId: string }
  await engine.settled(taskId)
  const { calls } = (await call('ldg:call:list', { taskId })) as { calls: Array<{ details: string }> }
  expect(JSON.parse(calls[0]?.details ?? '')).toEqual({
    error: expect.stringContaining('kaput'),
    stack: expect.stringContaining('deepInTheTool'),
  })
})

it('S0-053 S0-055 ldg:call:list shows a call that a cancel interrupted as failed from then on, while the ledger keeps what happened', async () => {
  const begun = deferred()
  const end = deferred()
  const slow = tool('x:slow', async () => {
    begun.resolve()
    await end.promise
    return 'done'
  })
  const { engine, call } = await openManager({
    abilities: [slow],
    model: createScriptedModel([{ tools: [{ name: 'x_slow', input: {} }] }, { text: 'ok' }]),
  })
  const { taskId } = (await call('task:create', { goal: 'g' })) as { taskId: string }
  await begun.promise
  await call('task:cancel', { taskId, reason: 'enough' })
  const shown = async () => ((await call('ldg:call:list', { taskId })) as { calls: object[] }).calls[0]
  const interrupted = { status: 'failed', details: JSON.stringify({ error: 'Task cancelled: enough' }) }
  expect(await shown()).toMatchObject(interrupted)
  end.resolve()
  for await (const { type } of engine.events({ taskId })) if (type === 'run.closed') break
  expect(await shown()).toMatchObject(interrupted)
  expect(await engine.calls(taskId)).toMatchObject([{ status: 'completed', result: 'done' }])
})

it('a task manager takes the options of the engine', async () => {
  const { engine } = await openManager({ limits: { agent: 1 }, inspect: () => {} })
  expect(await engine.limits()).toMatchObject({ engine: { limits: { agent: 1 } } })
})
