// The bus given to a task manager and the engine's own: the abilities on each, and that callers are judged alike on both.
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createScriptedModel } from '../../../src/agents/models/scripted-model.ts'
import { defineAbility } from '../../../src/bus/ability.ts'
import { createAgentBus, createTaskManager } from '../../../src/compat/agent-os.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../../src/entities/executor.ts'
import { echo } from '../../agents/world.ts'
import { reached, refusalOf } from '../../engine/world.ts'
import { heldModel, modelOf, surface } from '../../operations/world.ts'
import { openManager } from './world.ts'

const taskAbilities = ['active', 'cancel', 'create', 'get', 'kill', 'list', 'route', 'send', 'spawn', 'stream'].map(
  (name) => `task:${name}`,
)
const ledgerAbilities = [
  'ldg:call:list',
  'ldg:call:save',
  'ldg:msg:list',
  'ldg:msg:save',
  'ldg:task:get',
  'ldg:task:query',
  'ldg:task:save',
]
const idsOn = ({ bus }: Pick<Engine, 'bus'>) => bus.abilities().map(({ id }) => id)
const later = (id: string, say = 'later') =>
  defineAbility({ id, description: 'Says a word.', input: z.object({}), output: z.string(), handle: () => say })

describe('The given bus', () => {
  it('S0-112 S0-114 S1-083 the given bus has exactly the abilities of Agent OS and the models, each with names and both schemas', async () => {
    const { bus } = await openManager({ model: heldModel().model })
    const introspection = ['bus:abilities', 'bus:inspect', 'bus:list', 'bus:schema']
    const own = [...ledgerAbilities, 'model:list', 'model:llm', 'model:register', ...taskAbilities]
    expect(idsOn({ bus: bus as Engine['bus'] })).toEqual([...introspection, ...own])
    for (const id of [...taskAbilities, ...ledgerAbilities]) {
      const { meta } = (await bus.call('bus:inspect', { abilityId: id })) as { meta: Record<string, unknown> }
      expect(meta).toMatchObject({
        id,
        moduleName: id.slice(0, id.indexOf(':')),
        abilityName: id.slice(id.indexOf(':') + 1),
        isStream: id === 'task:stream',
        description: expect.stringMatching(/^[A-Z].*\.$/) as string,
        inputSchema: { type: 'object' },
        outputSchema: expect.any(Object) as object,
      })
    }
  })

  it('S0-030 S0-045 S0-052 S0-058 S1-024 S1-027 S1-033 S1-038 S1-042 the abilities on the given bus require what their documents specify', async () => {
    const { bus, call } = await openManager()
    const required = taskAbilities.map((id) => [id, bus.get(id)?.inputSchema['required'] ?? []])
    expect(Object.fromEntries(required)).toEqual({
      'task:active': [],
      'task:cancel': ['taskId', 'reason'],
      'task:create': ['goal'],
      'task:get': ['taskId'],
      'task:kill': ['taskId'],
      'task:list': [],
      'task:route': ['message'],
      'task:send': ['taskId', 'message'],
      'task:spawn': ['goal'],
      'task:stream': ['taskId'],
    })
    await refusalOf(call('task:create', { name: 'No goal' }), 'INVALID_INPUT')
    const refusal = await refusalOf(call('task:route', { message: 7 }), 'INVALID_INPUT')
    expect(refusal.details).toMatchObject({ abilityId: 'task:route', issues: [{ path: 'message' }] })
  })

  it('S0-116 the given bus works with only a ledger, without model and memory', async () => {
    const { call } = await openManager()
    const { taskId } = await call('task:create', { goal: 'By hand' })
    expect(await call('task:spawn', { goal: 'By hand too' })).toMatchObject({ status: 'pending' })
    await call('task:kill', { taskId })
    expect((await call('task:active'))['tasks']).toHaveLength(1)
  })

  it('the given bus accepts one task manager, which unregisters its abilities when it closes', async () => {
    const bus = createAgentBus()
    bus.register(later('notes:add'))
    const before = bus.abilities().map(({ id }) => id)
    const manager = createTaskManager(bus)
    await manager.ready
    const errors: unknown[] = []
    const second = createTaskManager(bus, { onError: (error) => errors.push(error) })
    await refusalOf(second.ready, 'ALREADY_REGISTERED')
    await manager.shutdown()
    expect(bus.abilities().map(({ id }) => id)).toEqual(before)
    expect(errors).toMatchObject([{ code: 'ALREADY_REGISTERED' }])
  })
})

describe("The engine's own bus", () => {
  it("the engine's own bus has the engine's abilities, those of the given bus, and those of Agent OS under ids of their own", async () => {
    const { bus, engine } = await openManager({ abilities: [echo] })
    expect(idsOn(engine)).toEqual(expect.arrayContaining(['board:list', 'task:pause', 'test:echo', 'model:list']))
    expect(idsOn(engine).filter((id) => id.startsWith('ldg:'))).toEqual([])
    expect(idsOn(engine)).toEqual(expect.arrayContaining(['agent_os:task:create', 'agent_os:ldg:task:save']))
    for (const id of taskAbilities.filter((each) => each !== 'task:route' && engine.bus.has(each))) {
      expect([id, engine.bus.get(id) === bus.get(id)]).toEqual([id, false])
    }
    const leave = bus.register(later('late:word'))
    expect(await engine.bus.call('late:word' as string, {})).toBe('later')
    leave()
    expect(engine.bus.has('late:word')).toBe(false)
  })

  it("the engine's own bus keeps its ability if the given bus has one with the same id", async () => {
    const { bus, engine } = await openManager()
    bus.register(later('task:pause', 'another pause'))
    const { id } = await engine.create({ name: 'by hand' })
    await engine.start(id)
    expect(await bus.call('task:pause' as string, {})).toBe('another pause')
    await engine.bus.call('task:pause', { taskId: id })
    await reached(engine, id, 'paused')
  })

  it("a model registered on the engine's own bus works on goals of both", async () => {
    const { bus, engine } = await openManager()
    const model = createScriptedModel([{ text: 'At last.' }])
    await engine.bus.call('model:register', { id: 'it', model, default: true })
    expect(bus.get('model:llm')).toBe(engine.bus.get('model:llm'))
    const { taskId } = await bus.call('task:create', { goal: 'Go' })
    expect(await engine.result(taskId)).toBe('At last.')
  })
})

describe('A run of a task manager', () => {
  it("S0-081 S1-056 a run's model is offered the abilities of the given bus, and none of the engine's own", async () => {
    const model = createScriptedModel([{ tools: [{ name: 'test_echo', input: { text: 'hi' } }] }, { text: 'Done' }])
    const { bus, engine } = await openManager({ model, abilities: [echo] })
    const { taskId } = await bus.call('task:create', { goal: 'Go' })
    await engine.result(taskId)
    const tools = ['ask_user', 'wait_for_tasks', 'model_list', ...taskAbilities, 'test_echo']
      .map((id) => id.replace(':', '_'))
      .filter((name) => name !== 'task_stream')
    expect(model.prompts[0]?.tools.toSorted()).toEqual(tools.toSorted())
    expect(bus.log({ abilityId: 'test:echo' })).toMatchObject([{ caller: { surface: 'model', taskId }, ok: true }])
    expect(bus.log({ abilityId: 'model:llm' })).toHaveLength(2)
    expect(engine.bus.log({ abilityId: 'test:echo' })).toEqual([])
  })

  it('a run invokes abilities of the given bus only', async () => {
    const { engine } = await openManager({
      model: heldModel().model,
      executors: {
        own: (_task: ExecutorTask, run: Run) => run.invoke('task:spawn', { goal: 'Below' }),
        other: (_task: ExecutorTask, run: Run) => run.invoke('board:list', {}),
      },
    })
    const parent = await engine.create({ executor: 'own' })
    expect(await engine.result(parent)).toMatchObject({ status: 'running' })
    expect(await engine.children(parent)).toMatchObject([{ goal: 'Below' }])
    const lost = await engine.create({ executor: 'other' })
    expect(await engine.settled(lost)).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } })
  })

  it('S1-072 C-29 a run recalls from the memory of the given bus', async () => {
    const bus = createAgentBus()
    const queries: unknown[] = []
    const piece = z.object({ content: z.string() })
    bus.register({
      id: 'mem:retrieve',
      description: 'Remembers.',
      input: z.object({ query: z.string(), limit: z.number() }),
      output: z.object({ nodes: z.array(piece) }),
      handle: (query) => {
        queries.push(query)
        return { nodes: [{ content: 'Q1 was good.' }] }
      },
    })
    const model = createScriptedModel([{ text: 'Done' }])
    const manager = createTaskManager(bus, { model })
    onTestFinished(() => manager.shutdown())
    const { taskId } = await bus.call('task:create', { goal: 'Analyze Q1' })
    await (await manager.engine).result(taskId)
    expect(queries).toEqual([{ query: 'Analyze Q1', limit: 5 }])
    const texts = model.prompts[0]?.messages.map(({ text }) => text) ?? []
    expect(texts.at(-1)).toMatch(
      /^Analyze Q1\n\nHere is relevant context from past tasks:\n\n.*\n\n\{"statement":"Q1 was good\."/,
    )
  })
})

describe('A model', () => {
  it.each(['given', 'engine'] as const)(
    'I25 a model uses on the %s bus only its own task and those below it, never the ledger',
    async (which) => {
      const { bus, engine } = await openManager({ model: heldModel().model })
      const own = await engine.create({ goal: 'Own', autoStart: false })
      const outsider = await engine.create({ goal: 'Stranger', autoStart: false })
      const call = surface(which === 'given' ? { bus } : engine, modelOf(own.id))
      const { taskId } = (await call('task:create', { goal: 'Child' })) as { taskId: string }
      expect(await engine.get(taskId)).toMatchObject({ parentId: own.id })
      const before = JSON.stringify(await engine.get(outsider))
      const naming: Array<[string, object]> = [
        ['task:create', { goal: 'Child', parentTaskId: outsider.id }],
        ['task:create', { goal: 'Child', blockedBy: [outsider.id] }],
        ['task:cancel', { taskId: outsider.id, reason: 'mine' }],
        ['task:send', { taskId: outsider.id, message: 'mine' }],
        ['task:get', { taskId: outsider.id }],
      ]
      if (which === 'given') {
        naming.push(
          ['task:spawn', { goal: 'Child', parentTaskId: outsider.id }],
          ['task:kill', { taskId: outsider.id }],
          ['task:list', { parentTaskId: outsider.id }],
          ...ledgerAbilities.map((id): [string, object] => [id, { taskId: own.id }]),
        )
      }
      for (const [id, input] of naming) {
        const refusal = await refusalOf(call(id, input), 'FORBIDDEN')
        expect([id, refusal.code]).toEqual([id, 'FORBIDDEN'])
      }
      expect(JSON.stringify(await engine.get(outsider))).toBe(before)
      const narrow = surface(which === 'given' ? { bus } : engine, modelOf(own.id, [['task:list']]))
      await refusalOf(narrow('task:get', { taskId }), 'FORBIDDEN')
    },
  )
})
