// Who may name which model. Programs, people and clients that may have commands run may name any model, which is resolved when it is used;
// all others may name those that the engine offers, and such a name is never resolved later either.
import { describe, expect, it } from 'vitest'
import { agent } from '../../src/agents/loop/agent.ts'
import { createScriptedModel, type ScriptedPrompt } from '../../src/agents/models/scripted-model.ts'
import { type Bus, createBus } from '../../src/bus/bus.ts'
import { type Caller, isModel } from '../../src/bus/caller.ts'
import { createTaskManager } from '../../src/compat/agent-os.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { ScriptedTurn } from '../../src/testing/index.ts'
import { callsOf, llm } from '../agents/world.ts'
import { ledgerFile, openEngine, refusalOf } from '../engine/world.ts'
import { modelOf } from '../operations/world.ts'

const saying = (text: string) => createScriptedModel(() => ({ text }), { modelId: text })

/** Callers without the right to name any model, by surface. */
const untrusted: Record<string, Caller> = {
  'a client over MCP': { surface: 'mcp', model: true },
  'a client over HTTP without the scope admin': { surface: 'http', scopes: ['read', 'create', 'control'] },
  'a principal over HTTP with a task': { surface: 'http', scopes: ['admin'] },
  'the tools of a model': { surface: 'tools' },
  'the model of a task': { surface: 'model' },
}
/** Callers with a task of their own. */
const withTask = ['a principal over HTTP with a task', 'the model of a task']
const trusted: Record<string, Caller> = {
  'the program': { surface: 'library' },
  'the command line': { surface: 'cli' },
  'HTTP with all scopes': { surface: 'http', scopes: ['admin'] },
  'a chat, whose model its program has given': { surface: 'chat', scopes: ['read', 'create', 'control'] },
}

/** Names that the command line resolves, and one that does not exist. */
const hostile = ['openai:gpt-5', 'script:/etc/passwd', 'script:notes/fifo', 'local:x', 'nothing', 'Spare']

/** An engine that resolves every name, and records the names. */
async function resolving(options: EngineOptions = {}) {
  const asked: string[] = []
  const resolveModel = (id: string) => {
    asked.push(id)
    return saying(id)
  }
  const engine = (await openEngine({ resolveModel, ...options })) as unknown as Engine
  return { engine, asked }
}

const offers = { model: saying('usual'), models: { spare: saying('spare') } }

const create = (bus: Bus, input: object, caller: Caller): Promise<string> =>
  bus.call('task:create' as string, input, { caller }).then((made) => (made as { taskId: string }).taskId)

/** Every way to name a model for a task; models cannot create trees. */
const waysOf = (caller: Caller): Array<(model: string) => object> => {
  const tree = (model: string) => ({ name: 'x', tasks: { a: { tasks: { b: { goal: 'x', model } } } } })
  const single = [
    (model: string) => ({ goal: 'x', model }),
    (model: string) => ({ executor: 'agent', input: 'x', model }),
  ]
  return isModel(caller) ? single : [...single, tree]
}

const client = untrusted['a client over MCP'] as Caller

describe.each(Object.entries(untrusted))('%s', (name, caller) => {
  it('V-04 a caller without the right to name models may name a model that the engine offers, and no other', async () => {
    const { engine, asked } = await resolving(offers)
    const parent = await engine.create({ name: 'parent' })
    const own = withTask.includes(name) ? { ...caller, taskId: parent.id } : caller
    for (const wayOf of waysOf(caller)) {
      for (const each of hostile) {
        const refusal = await refusalOf(create(engine.bus, wayOf(each), own), 'FORBIDDEN')
        expect(refusal.message).toMatch(/Offered models: spare, errand-script:usual/)
      }
    }
    expect((await engine.list()).total).toBe(1)
    const id = await create(engine.bus, { goal: 'x', model: 'spare' }, own)
    expect(await engine.result(id)).toBe('spare')
    expect(asked).toEqual([])
  })
})

describe.each(Object.entries(trusted))('%s', (_name, caller) => {
  it('a caller with the right to name models may name any model, which is resolved when it is used', async () => {
    const { engine, asked } = await resolving(offers)
    for (const wayOf of waysOf(caller).slice(0, 2)) {
      const id = await create(engine.bus, wayOf('openai:gpt-5'), caller)
      expect(await engine.result(id)).toBe('openai:gpt-5')
    }
    expect(asked).toEqual(['openai:gpt-5'])
  })
})

it('the code of a run may name any model for the tasks that it creates and spawns', async () => {
  const { engine } = await resolving({
    ...offers,
    executors: {
      lead: async (_task: ExecutorTask, run: Run) => {
        const spawned = await run.spawn({ goal: 'x', model: 'far:away' })
        const { taskId } = (await run.invoke('task:create', { goal: 'x', model: 'near:by' })) as { taskId: string }
        return run.wait([spawned.id, taskId])
      },
    },
  })
  const task = await engine.create({ executor: 'lead' })
  await engine.result(task)
  const children = await engine.children(task)
  expect(children.map(({ result }) => result)).toEqual(['far:away', 'near:by'])
})

it('V-04 an agent that names another model is refused, and the refusal lists the offered models', async () => {
  const prompts: ScriptedPrompt[] = []
  const wish = { goal: 'part', model: 'openai:gpt-5' }
  const model = createScriptedModel((prompt): ScriptedTurn => {
    prompts.push(prompt)
    return prompt.turn === 0 ? { tools: [{ name: 'task_create', input: wish }] } : { text: 'So be it.' }
  })
  const { engine, asked } = await resolving({ ...offers, model })
  const task = await engine.create({ goal: 'whole' })
  expect(await engine.result(task)).toBe('So be it.')
  expect(await callsOf(engine, task)).toEqual([expect.stringMatching(/^task:create failed FORBIDDEN$/)])
  expect(prompts[1]?.last).toContain('Offered models: spare')
  expect([await engine.children(task), asked]).toEqual([[], []])
})

it.each([{}, { model: 'any:model' }])('an agent passes its own model on to a subtask: %o', async (named) => {
  const model = createScriptedModel([
    { when: { goal: 'part' }, text: 'the part' },
    { tools: [{ name: 'task_create', input: { goal: 'part', ...named } }] },
    { tools: [{ name: 'wait_for_tasks', input: {} }] },
    { text: 'the whole' },
  ])
  const engine = await openEngine({ executors: { writer: agent() }, resolveModel: () => model })
  const task = await engine.create({ executor: 'writer', goal: 'whole', model: 'any:model' })
  expect(await engine.result(task)).toBe('the whole')
  expect(await engine.children(task)).toMatchObject([{ status: 'completed', result: 'the part' }])
})

it('V-04 an offered name is not resolved by an engine that does not offer it, even if another caller changes the task or creates tasks below it', async () => {
  const ledger = ledgerFile()
  const executors = { poet: agent({ model: 'openai:gpt-5' }) }
  const { engine: first } = await resolving({ ledger, executors, autoStart: false })
  const id = await create(first.bus, { goal: 'x', model: 'openai:gpt-5' }, client)
  await first.update(id, { input: 'from a person, who may have commands run' })
  // A subtask has the model of its creator's task, and the same restriction.
  const caller = { surface: 'model', taskId: id }
  const unsaid = await create(first.bus, { goal: 'y' }, caller)
  const said = await create(first.bus, { goal: 'z', model: 'openai:gpt-5' }, caller)
  await first.close()
  const { engine, asked } = await resolving({ ledger })
  for (const task of [id, unsaid, said]) {
    await engine.start(task)
    const message = expect.stringMatching(
      /"openai:gpt-5" is not offered by this engine.*offered models: none/,
    ) as string
    expect(await engine.settled(task)).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN', message } })
  }
  expect(asked).toEqual([])
})

it('V-04 an engine checks an offered name also for the default model and for the model of an agent', async () => {
  const { engine } = await resolving({
    model: 'openai:usual',
    executors: { poet: agent({ model: 'openai:poet' }) },
  })
  for (const model of ['openai:usual', 'openai:poet'])
    expect(await engine.result(await create(engine.bus, { goal: 'x', model }, client))).toBe(model)
  await refusalOf(create(engine.bus, { goal: 'x', model: 'openai:other' }, client), 'FORBIDDEN')
})

it('a name from a caller with the right is still resolved after a client without the right has changed the work of the task', async () => {
  const { engine } = await resolving({ autoStart: false })
  const { id } = await engine.create({ goal: 'x', model: 'far:away' })
  const client = untrusted['a client over HTTP without the scope admin'] as Caller
  await engine.bus.call('task:update', { taskId: id, input: 'other words' }, { caller: client })
  await engine.start(id)
  expect(await engine.result(id)).toBe('far:away')
})

it('V-04 a producer without models accepts the names that working engines have published, and refuses all others', async () => {
  const ledger = ledgerFile()
  const producer = (await openEngine({ ledger, work: false })) as unknown as Engine
  const refusal = await refusalOf(create(producer.bus, { goal: 'x', model: 'spare' }, client), 'FORBIDDEN')
  expect(refusal.message).toContain('No models are offered: omit `model`')
  await openEngine({ ledger, ...offers })
  for (const model of hostile) await refusalOf(create(producer.bus, { goal: 'x', model }, client), 'FORBIDDEN')
  expect(await producer.result(await create(producer.bus, { goal: 'x', model: 'spare' }, client))).toBe('spare')
})

it('a `model:llm` of the program validates the names that it accepts itself', async () => {
  const names: unknown[] = []
  const own = llm((input) => {
    names.push(input.modelId)
    return { content: 'said' }
  })
  const engine = (await openEngine({ abilities: [own.ability] })) as unknown as Engine
  const caller = untrusted['a client over MCP'] as Caller
  await engine.result(await create(engine.bus, { goal: 'x', model: 'small' }, caller))
  expect(names).toEqual(['small'])
})

it('V-04 a model on the bus of Agent OS may name a model that is offered there, and no other', async () => {
  const bus = createBus()
  await using manager = createTaskManager(bus, offers)
  const engine = await manager.engine
  const parent = await engine.create({ name: 'parent' })
  for (const caller of [{ surface: 'mcp', model: true } as const, modelOf(parent.id)]) {
    for (const abilityId of ['task:create', 'task:spawn']) {
      const named = (model: string) => bus.call(abilityId, { goal: 'x', model }, { caller }) as Promise<unknown>
      for (const model of hostile) await refusalOf(named(model), 'FORBIDDEN')
      const { taskId } = (await named('spare')) as { taskId: string }
      expect(await engine.result(taskId)).toBe('spare')
    }
  }
})
