// Goals without a model: they get an agent nevertheless, no run begins only to fail, `why` explains what is missing,
// and they run as soon as there is a model, however it is added.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { createBus } from '../../src/bus/bus.ts'
import { ledgerFile, openEngine, reached, refusalOf, turns } from '../engine/world.ts'
import { llm } from './world.ts'

const saying = (text: string) => createScriptedModel(() => ({ text }), { modelId: text })

describe('a goal without a model', () => {
  it('S0-048 S0-047 S0-049 a goal without a model gets the agent as executor, with its conversation opened, and waits for a model instead of failing', async () => {
    const engine = await openEngine()
    const task = await engine.create({ goal: 'Speak', retry: { maxAttempts: 2 }, systemPrompt: 'Be brief.' })
    expect(task).toMatchObject({ executor: 'agent', status: 'submitted', ready: true })
    const messages = await engine.messages(task)
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Speak'],
    ])
    // The engine has nothing to do, and the task is still open.
    await engine.idle()
    expect(await engine.get(task)).toMatchObject({ status: 'submitted', run: 0 })
    const why = await engine.why(task)
    expect(why).toMatchObject({ reason: 'model', tasks: [], at: null })
    expect(why.message).toMatch(/no model is configured.*createEngine.*`model:register`.*--model/)
    expect((await engine.bus.call('engine:status', {})).executors).toEqual([])
    await refusalOf(engine.claim(task, { owner: 'ada' }), 'NOT_CLAIMABLE')
  })

  it('S0-048 a goal without a model runs when an engine with a model opens the ledger', async () => {
    const ledger = ledgerFile()
    const without = await openEngine({ ledger })
    const { id } = await without.create({ goal: 'Speak' })
    await without.close()
    const withModel = await openEngine({ ledger, model: saying('hello') })
    expect(await withModel.result(id)).toBe('hello')
  })

  it('S0-048 a goal without a model is left to an engine on the same ledger that has a model', async () => {
    const ledger = ledgerFile()
    const without = await openEngine({ ledger })
    await openEngine({ ledger, model: saying('hello') })
    expect(await without.result(await without.create({ goal: 'Speak' }))).toBe('hello')
  })

  it('S0-048 a goal without a model runs when `model:register` registers a model', async () => {
    const engine = await openEngine()
    const task = await engine.create({ goal: 'Speak' })
    await engine.idle()
    await engine.bus.call('model:register' as string, { id: 'late', model: saying('late') })
    expect(await engine.result(task)).toBe('late')
  })

  it('S0-048 a goal without a model runs when another `model:llm` is registered on the bus', async () => {
    const bus = createBus()
    const engine = await openEngine({ bus })
    const task = await engine.create({ goal: 'Speak' })
    await engine.idle()
    bus.register(llm(() => ({ content: 'from the bus' })).ability)
    expect(await engine.result(task)).toBe('from the bus')
  })

  it('S0-048 a goal without a model runs when a default model is set in an engine with models for named tasks only', async () => {
    const engine = await openEngine({ executors: { critic: agent({ model: saying('critic') }) } })
    const task = await engine.create({ goal: 'Speak' })
    expect(await engine.result(await engine.create({ executor: 'critic', goal: 'Judge' }))).toBe('critic')
    await engine.idle()
    expect(await engine.why(task)).toMatchObject({ reason: 'model' })
    await engine.bus.call('model:register' as string, { id: 'late', model: saying('late') })
    expect(await engine.result(task)).toBe('late')
  })

  it('a goal without a model waits where only tasks that name a model can run, and those run before it', async () => {
    const engine = await openEngine({ resolveModel: saying, maxConcurrent: 1 })
    const parent = await engine.create({ name: 'lane', concurrency: 1 })
    const waiting = [
      await engine.create({ goal: 'Speak', priority: 9 }),
      await engine.create({ goal: 'Speak', priority: 9, parentId: parent.id }),
    ]
    const named = [
      await engine.create({ goal: 'Speak', model: 'far:away' }),
      await engine.create({ goal: 'Speak', model: 'near:by', parentId: parent.id }),
    ]
    expect(await Promise.all(named.map((task) => engine.result(task)))).toEqual(['far:away', 'near:by'])
    await engine.idle()
    for (const task of waiting) {
      expect(await engine.get(task)).toMatchObject({ status: 'submitted', run: 0 })
      expect((await engine.why(task)).message).toMatch(/no default model is configured.*the task names none/)
    }
  })

  it('a goal without a model waits with an agent of any name, and with children of its own', async () => {
    const engine = await openEngine({ executors: { writer: agent() } })
    const task = await engine.create({ executor: 'writer', goal: 'Write' })
    const parent = await engine.create({ goal: 'Lead', tasks: { part: { goal: 'Work' }, byHand: { name: 'by hand' } } })
    expect(parent).toMatchObject({ executor: 'agent', group: false })
    await engine.idle()
    const children = await engine.children(parent)
    for (const each of [task, parent, ...children.filter(({ name }) => name === 'part')])
      expect(await engine.why(each)).toMatchObject({ reason: 'model' })
    await engine.bus.call('model:register' as string, { id: 'late', model: saying('late') })
    expect(await engine.result(task)).toBe('late')
    await engine.result(parent)
  })

  it('a goal without a model takes no slot from tasks that can run', async () => {
    const engine = await openEngine({ executors: { work: () => 'done' }, maxConcurrent: 1 })
    for (let n = 0; n < 3; n++) await engine.create({ goal: 'Speak', priority: 5 })
    expect(await engine.result(await engine.create({ executor: 'work' }))).toBe('done')
  })
})

describe('a goal with a role', () => {
  it.each([{}, { model: saying('hello') }])(
    'a goal with a role can be claimed by any client with that role, with or without a model',
    async (options) => {
      const engine = await openEngine(options)
      const task = await engine.create({ goal: 'Review it', role: 'reviewer' })
      expect(task).toMatchObject({ executor: null, role: 'reviewer', goal: 'Review it' })
      expect(await engine.why(task)).toMatchObject({ reason: 'claim' })
      const claimed = await engine.claim(task, { owner: 'ada', role: 'reviewer' })
      expect(await engine.complete(claimed, 'fine')).toMatchObject({ status: 'completed' })
      await refusalOf(engine.create({ goal: 'x', role: 'r', model: 'far:away' }), 'INVALID_INPUT')
    },
  )
})

describe('the goal of a team', () => {
  it('S0-048 X-022 the goal of a team has an agent too, and others may join the team while it waits for a model', async () => {
    const engine = await openEngine()
    const task = await engine.create({ goal: 'Fix it', team: true, agentId: 'ann' })
    expect(task).toMatchObject({ executor: 'agent' })
    expect(await engine.why(task)).toMatchObject({ reason: 'model' })
    const { branch } = await engine.bus.call('agent:join', { taskId: task.id, agentId: 'bob' })
    expect(branch).toMatch(/bob$/)
    const byHand = await engine.create({ name: 'Fix it', team: true })
    expect(byHand).toMatchObject({ executor: null, goal: null })
  })
})

describe('a goal created by an engine with work: false', () => {
  it('the conversation of a goal created by an engine with work: false is opened by the engine that runs it, with the instructions of its agent', async () => {
    const ledger = ledgerFile()
    const producer = await openEngine({ ledger, work: false })
    const task = await producer.create({ goal: 'Speak' })
    expect(task).toMatchObject({ executor: 'agent' })
    expect(await producer.messages(task)).toEqual([])
    expect((await producer.why(task)).message).toContain('a working engine that has a model')
    const prompts: string[] = []
    const model = createScriptedModel(({ messages }) => {
      prompts.push(String(messages[0]?.text))
      return { text: 'hello' }
    })
    const worker = await openEngine({ ledger, model, executors: { agent: agent({ instructions: 'You sing.' }) } })
    expect(await worker.result(task.id)).toBe('hello')
    expect(prompts).toEqual(['You sing.'])
  })

  it('a goal created by an engine with work: false waits, once that engine works, until it has a model', async () => {
    const engine = await openEngine({ work: false })
    const task = await engine.create({ goal: 'Speak' })
    await engine.work()
    await turns(3)
    expect(await engine.why(task)).toMatchObject({ reason: 'model' })
    await engine.bus.call('model:register' as string, { id: 'late', model: saying('late') })
    await reached(engine, task, 'completed')
  })
})
