// Who may have commands run. An executor declares whether it runs commands, under whatever name it is offered; a caller without the right
// is refused where the task is created or changed, and the engine checks again at admission.
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Bus, createBus } from '../../src/bus/bus.ts'
import type { Caller } from '../../src/bus/caller.ts'
import { createTaskManager } from '../../src/compat/agent-os.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { createShell, defineExecutor, importBoard } from '../../src/index.ts'
import { ledgerFile, openEngine, refusalOf } from '../engine/world.ts'

const runner = createShell()
/** A user's own executor that runs the command in its input. */
const own = defineExecutor({ runsCommands: true, run: () => 'ran' })
const executors = { runner, own, echo: () => 'said' }

/** Callers without the right to run commands, by surface. */
const untrusted: Record<string, Caller> = {
  'a client over MCP': { surface: 'mcp', model: true },
  'a client over HTTP without the scope admin': { surface: 'http', scopes: ['read', 'create', 'control'] },
  'the tools of a model': { surface: 'tools' },
  'a chat': { surface: 'chat', scopes: ['read', 'create', 'control'] },
}
const trusted: Record<string, Caller> = {
  'the program': { surface: 'library' },
  'the command line': { surface: 'cli' },
  'HTTP with all scopes': { surface: 'http', scopes: ['admin'] },
}

/** Every ability that can name an executor, with its input. */
const creations: Array<[abilityId: string, inputOf: (executor: string) => object]> = [
  ['task:create', (executor) => ({ name: 'x', executor, input: { run: 'true' } })],
  ['task:create', (executor) => ({ name: 'x', tasks: { a: { tasks: { b: { executor, input: { run: 'true' } } } } } })],
  ['board:create', (executor) => ({ subject: 'x', executor, input: { run: 'true' } })],
]
/** Models cannot create trees. */
const creationsOf = ({ model }: Caller) => creations.filter(([, inputOf]) => !model || !('tasks' in inputOf('echo')))
const spellings = ['runner', 'runner ', '\uFEFFrunner', ' runner\t', 'own']

const call = (bus: Bus, abilityId: string, input: unknown, caller: Caller) =>
  bus.call(abilityId as string, input, { caller }) as Promise<unknown>

describe.each(Object.entries(untrusted))('%s', (_name, caller) => {
  it('V-01 a caller without the right to run commands may not assign work to an executor that runs commands, however it is spelled', async () => {
    const engine = (await openEngine({ executors })) as unknown as Engine
    for (const [abilityId, inputOf] of creationsOf(caller)) {
      for (const executor of spellings) {
        const refusal = await refusalOf(call(engine.bus, abilityId, inputOf(executor), caller), 'FORBIDDEN')
        expect(refusal.message).toContain('executor of your own')
      }
      await call(engine.bus, abilityId, inputOf('echo'), caller)
    }
    const { tasks } = await engine.list({ executor: 'echo' })
    expect(tasks.length).toBeGreaterThan(1)
    expect(tasks.filter(({ mayRunCommands }) => mayRunCommands)).toEqual([])
    expect((await engine.list({ executor: 'runner' })).total).toBe(0)
    expect((await engine.list({ executor: 'own' })).total).toBe(0)
  })

  it('a caller without the right to run commands may fork no task whose handler runs commands', async () => {
    const engine = (await openEngine({ executors })) as unknown as Engine
    const task = await engine.create({ executor: 'echo', onFailure: { executor: 'own' } })
    await engine.result(task)
    await refusalOf(call(engine.bus, 'task:fork', { taskId: task.id }, caller), 'FORBIDDEN')
  })
})

describe.each(Object.entries(trusted))('%s', (_name, caller) => {
  it('a caller with the right to run commands may have commands run', async () => {
    const engine = (await openEngine({ executors })) as unknown as Engine
    for (const [abilityId, inputOf] of creations) await call(engine.bus, abilityId, inputOf('runner'), caller)
    await engine.idle()
    const { tasks } = await engine.list({ executor: 'runner' })
    expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
  })
})

const client = untrusted['a client over HTTP without the scope admin'] as Caller

it('V-01 a client without the right to run commands may not change the commands that the code of a run has spawned', async () => {
  const engine = (await openEngine({
    executors: {
      ...executors,
      parent: async (_task: ExecutorTask, run: Run) => {
        const { id } = await run.spawn({ executor: 'runner', input: { run: 'false' }, autoStart: false })
        await run.invoke('task:update', { taskId: id, input: { run: 'true' } })
        await run.invoke('task:start', { taskId: id })
        return id
      },
    },
  })) as unknown as Engine
  const id = (await engine.result(await engine.create({ executor: 'parent' }))) as string
  expect((await engine.settled(id)).status).toBe('completed')
})

it('V-01 a client without the right to run commands may not change what a task runs', async () => {
  const engine = (await openEngine({ executors, autoStart: false })) as unknown as Engine
  const command = await engine.create({ executor: 'runner', input: { run: 'true' } })
  const harmless = await engine.create({ executor: 'echo' })
  const change = (taskId: string, patch: object) => call(engine.bus, 'task:update', { taskId, ...patch }, client)
  for (const patch of [
    { input: { run: 'false' } },
    { retry: { maxAttempts: 3 } },
    { executor: 'own' },
    { onInterrupt: 'rerun' },
  ])
    await refusalOf(change(command.id, patch), 'FORBIDDEN')
  await refusalOf(change(harmless.id, { executor: 'runner' }), 'FORBIDDEN')
  expect(await engine.get(command)).toMatchObject({ executor: 'runner', version: command.version })
  await change(command.id, { priority: 3 })
  await change(harmless.id, { input: { run: 'touch x' } })
  expect((await engine.get(command))?.mayRunCommands).toBe(true)
  expect((await engine.get(harmless))?.mayRunCommands).toBe(false)
})

it('V-01 a client without the right to run commands leaves no prepared command for a caller that sets the executor later', async () => {
  const effect = join(ledgerFile(), '..', 'effect')
  const engine = (await openEngine({ executors })) as unknown as Engine
  const input = { run: `touch ${effect}` }
  await call(engine.bus, 'task:create', { name: 'prepared', input, team: false }, client)
  const [task] = (await engine.list()).tasks
  const refusal = await refusalOf(engine.update(task?.id as string, { executor: 'runner' }), 'FORBIDDEN')
  expect(refusal.message).toContain('Give `input` with it')
  // A caller with the right sets the command.
  await engine.update(task?.id as string, { executor: 'runner', input: { run: 'true' } })
  expect((await engine.settled(task?.id as string)).status).toBe('completed')
  expect(existsSync(effect)).toBe(false)
})

it('V-01 a client with all scopes for a single task has no right to run commands', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  const { id: taskId } = await engine.create({ name: 'own' })
  const caller: Caller = { surface: 'http', scopes: ['admin'], taskId }
  const input = { run: 'true' }
  await refusalOf(call(engine.bus, 'task:create', { name: 'x', executor: 'runner', input }, caller), 'FORBIDDEN')
  await call(engine.bus, 'task:create', { name: 'prepared', input, team: false }, caller)
  const [prepared] = await engine.children(taskId)
  await refusalOf(engine.update(prepared?.id as string, { executor: 'runner' }), 'FORBIDDEN')
})

it('V-01 a board file may neither name an executor nor prepare a task for one that runs commands', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  const dir = dirname(ledgerFile())
  const work = { executor: 'runner', input: { run: 'true' }, metadata: { executor: 'runner' } }
  const file = { id: 1, subject: 'x', description: 'true', status: 'pending', blockedBy: [], blocks: [], owner: '' }
  writeFileSync(join(dir, 'task_1.json'), JSON.stringify({ ...file, ...work }))
  expect((await importBoard(engine, { dir })).imported).toEqual(['task_1.json'])
  const [task] = (await engine.list()).tasks
  expect(task).toMatchObject({ executor: null, input: null, mayRunCommands: false })
  const refusal = await refusalOf(engine.update(task?.id as string, { executor: 'own' }), 'FORBIDDEN')
  expect(refusal.message).toContain('Give `input` with it')
})

it.each(Object.entries(untrusted))('V-03 a plan keeps its keys and its marks against %s', async (_name, caller) => {
  const engine = (await openEngine({ executors, autoStart: false })) as unknown as Engine
  const plan = { path: 'approve', generation: 0 }
  const task = await engine.create({ executor: 'echo', key: 'plan:p#1/approve', metadata: { plan, note: 'a' } })
  if (!caller.model) {
    const key = 'plan:p#1+1/approve'
    const taken = call(engine.bus, 'task:create', { name: 'x', executor: 'echo', key }, caller)
    await refusalOf(taken, 'FORBIDDEN')
    const forged = { taskId: task.id, metadata: { plan: { ...plan, path: 'deploy' }, note: 'a' } }
    await refusalOf(call(engine.bus, 'task:update', forged, caller), 'FORBIDDEN')
    await call(engine.bus, 'task:update', { taskId: task.id, metadata: { plan, note: 'b' } }, caller)
  }
  await call(engine.bus, 'board:list', {}, { surface: 'library' })
  for (const mark of [{ ...plan, path: 'deploy' }, null]) {
    const change = { id: task.id, metadata: { plan: mark } }
    await refusalOf(call(engine.bus, 'board:update', change, caller), 'FORBIDDEN')
  }
  expect((await engine.get(task))?.metadata['plan']).toEqual(plan)
})

it('V-01 a producer without executors uses the executors that working engines have published, and treats unknown ones as commands', async () => {
  const ledger = ledgerFile()
  await openEngine({ ledger, executors })
  const producer = (await openEngine({ ledger, work: false })) as unknown as Engine
  const model = untrusted['a client over MCP'] as Caller
  for (const [abilityId, inputOf] of creationsOf(model)) {
    for (const executor of [...spellings, 'unknown-executor'])
      await refusalOf(call(producer.bus, abilityId, inputOf(executor), model), 'FORBIDDEN')
    await call(producer.bus, abilityId, inputOf('echo'), model)
  }
  await call(producer.bus, 'task:create', { goal: 'For an agent' }, model)
  await producer.create({ executor: 'runner', input: { run: 'true' } })
})

it('V-01 a producer without executors creates a task that is refused at admission if its executor runs commands by then', async () => {
  const ledger = ledgerFile()
  const effect = join(ledger, '..', 'effect')
  const first = await openEngine({ ledger, executors: { later: () => 'said' }, maxConcurrent: 1, autoStart: false })
  const input = { run: `touch ${effect}` }
  await call(
    first.bus,
    'task:create',
    { name: 'x', executor: 'later', input },
    untrusted['a client over MCP'] as Caller,
  )
  const [task] = (await first.list()).tasks
  await first.close()
  const second = (await openEngine({ ledger, executors: { later: createShell() } })) as unknown as Engine
  await second.start(task?.id as string)
  expect(await second.settled(task?.id as string)).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN' } })
  expect(existsSync(effect)).toBe(false)
})

it('V-01 a model on the bus of Agent OS may not assign work to an executor that runs commands', async () => {
  const bus = createBus()
  await using _manager = createTaskManager(bus, { executors } as never)
  const model = { surface: 'mcp', model: true } as const
  for (const abilityId of ['task:create', 'task:spawn']) {
    const input = { goal: 'x', executor: 'runner ', input: { run: 'true' } }
    await refusalOf(call(bus, abilityId, input, model), 'FORBIDDEN')
  }
})
