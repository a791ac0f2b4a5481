// The abilities that surfaces use for tasks: rows now and in the past, whole tasks, the feed, and changes that expect a version.
import { expect, it } from 'vitest'
import { accessClasses, type Caller } from '../../src/bus/caller.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { deferred, openEngine, refusalOf } from '../engine/world.ts'
import { modelOf } from './world.ts'

const watcher: Caller = { surface: 'http', scopes: ['read'] }

async function rowsAt({ bus }: Engine, at: number): Promise<string[]> {
  const { tasks } = await bus.call('task:list', { at })
  return tasks.map(({ name, status }) => `${name}: ${status}`)
}

async function take<T>(items: AsyncIterable<T>, wanted: number): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) if (found.push(item) === wanted) break
  return found
}

it('task:list returns tasks oldest first, page by page, with the total', async () => {
  const engine = await openEngine()
  for (let n = 0; n < 5; n++) await engine.create({ name: `n${n}`, priority: n, tags: n % 2 === 0 ? ['even'] : [] })
  const first = await engine.bus.call('task:list', { limit: 2 })
  expect(first).toMatchObject({ total: 5, tasks: [{ name: 'n0', ready: true }, { name: 'n1' }] })
  const rest = await engine.bus.call('task:list', { after: first.next as number })
  expect(rest.tasks.map(({ name }) => name)).toEqual(['n2', 'n3', 'n4'])
  expect(rest.next).toBeNull()
  const even = await engine.bus.call('task:list', { tags: ['even'], text: 'N', status: ['submitted'] })
  expect(even.tasks.map(({ name }) => name)).toEqual(['n0', 'n2', 'n4'])
  expect((await engine.bus.call('task:list', { ids: [first.tasks[1]?.id as string, 'task-none'] })).total).toBe(1)
})

it('task:list returns tasks as of any position of the feed, equal to a fold of its events', async () => {
  const engine = await openEngine()
  const parent = await engine.create({ name: 'parent' })
  await engine.start(parent)
  const child = await engine.create({ name: 'child', parentId: parent.id })
  await engine.update(child, { name: 'renamed' })
  await engine.delete(child)
  await engine.complete(parent)
  const { events, seq: last } = await engine.bus.call('event:list', {})
  expect(events.at(-1)?.seq).toBe(last)
  const folded = new Map<string, string>()
  for (const { seq, taskId, type, data } of events) {
    if (type === 'task.deleted') folded.delete(taskId)
    else folded.set(taskId, `${String(data['name'])}: ${String(data['status'])}`)
    expect([seq, await rowsAt(engine, seq)]).toEqual([seq, [...folded.values()]])
  }
  expect(await rowsAt(engine, last)).toEqual(['parent: completed'])
  expect(await rowsAt(engine, 0)).toEqual([])
  expect(await rowsAt(engine, last + 1000)).toEqual(['parent: completed'])
  await refusalOf(engine.bus.call('task:list', { at: 1, status: 'working' }), 'INVALID_INPUT')
})

it('task:list returns only the tasks below the task of its caller, and refuses the past to that caller', async () => {
  const engine = await openEngine()
  const own = await engine.create({ name: 'own' })
  await engine.create({ name: 'below', parentId: own.id })
  await engine.create({ name: 'foreign' })
  const caller: Caller = { surface: 'http', taskId: own.id }
  expect((await engine.bus.call('task:list', {}, { caller })).tasks.map(({ name }) => name)).toEqual(['below'])
  await refusalOf(engine.bus.call('task:list', { at: 1 }, { caller }), 'FORBIDDEN')
  await refusalOf(engine.bus.call('event:list', {}, { caller }), 'FORBIDDEN')
  await refusalOf(engine.bus.call('engine:status', {}, { caller }), 'FORBIDDEN')
  await refusalOf(take(engine.bus.stream('event:feed', {}, { caller }), 1), 'FORBIDDEN')
})

it('task:get returns a task like the engine, with its blockers and dependents', async () => {
  const engine = await openEngine()
  const before = await engine.create({ name: 'before' })
  const task = await engine.create({ name: 'task', blockedBy: [before.id], metadata: { a: [1] } })
  const after = await engine.create({ name: 'after', blockedBy: [task.id] })
  const shown = await engine.bus.call('task:get', { taskId: task.id })
  expect(shown.task).toEqual(JSON.parse(JSON.stringify(await engine.get(task))))
  expect(shown.dependencies.map(({ id }) => id)).toEqual([before.id])
  expect(shown.dependents.map(({ id }) => id)).toEqual([after.id])
  expect(await engine.bus.call('task:why', { taskId: task.id })).toMatchObject({
    reason: 'blocked',
    tasks: [before.id],
  })
  await refusalOf(engine.bus.call('task:get', { taskId: 'task-none' }), 'NOT_FOUND')
})

it('task:runs and task:calls return the runs and calls of the engine', async () => {
  const engine = await openEngine({
    executors: { work: async (_task: ExecutorTask, run: Run) => run.call('step', { n: 1 }, () => 2) },
  })
  const task = await engine.create({ executor: 'work' })
  await engine.result(task)
  const { runs } = await engine.bus.call('task:runs', { taskId: task.id })
  const { calls } = await engine.bus.call('task:calls', { taskId: task.id })
  expect(runs).toEqual(await engine.runs(task))
  expect(calls).toEqual(await engine.calls(task))
  expect(calls).toMatchObject([{ name: 'step', params: { n: 1 }, result: 2 }])
})

it('V-07 task:runs and task:calls return pages of a hundred by default', async () => {
  const engine = await openEngine({
    executors: {
      work: async (_task: ExecutorTask, run: Run) => {
        for (let n = 0; n < 101; n++) await run.call(`step-${n}`, {}, () => n)
        if (run.attempt < 3) throw new Error('again')
      },
    },
  })
  const task = await engine.create({ executor: 'work', retry: { maxAttempts: 3, backoffMs: 1 } })
  await engine.result(task)
  const { id: taskId } = task
  const all = await engine.calls(task)
  const first = await engine.bus.call('task:calls', { taskId })
  expect(first.calls).toEqual(all.slice(0, 100))
  const rest = await engine.bus.call('task:calls', { taskId, after: first.next ?? 0, limit: 1_000 })
  expect([rest.calls, rest.next]).toEqual([all.slice(100), null])
  const numbers: number[][] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: { runs: Array<{ number: number }>; next: number | null } = await engine.bus.call('task:runs', {
      taskId,
      after,
      limit: 1,
    })
    numbers.push(page.runs.map(({ number }) => number))
    after = page.next
  }
  expect(numbers).toEqual([[1], [2], [3]])
  expect((await engine.runs(task)).map(({ number }) => number)).toEqual([1, 2, 3])
  await refusalOf(engine.bus.call('task:calls', { taskId, limit: 1_001 }), 'INVALID_INPUT')
})

it('a change that expects a version is refused and changes nothing if the task has been written since', async () => {
  const engine = await openEngine()
  const { id: taskId } = await engine.create({ name: 'a' })
  const { version } = await engine.start(taskId)
  const expectedVersion = version - 1
  const stale = { taskId, expectedVersion }
  const attempts: Array<[string, object]> = [
    ['task:pause', stale],
    ['task:resume', stale],
    ['task:retry', stale],
    ['task:start', stale],
    ['task:update', { ...stale, name: 'b' }],
    ['task:delete', stale],
    ['task:block', { ...stale, blockedBy: [taskId] }],
    ['task:unblock', { ...stale, blockedBy: [taskId] }],
    ['task:fail', { ...stale, reason: 'no' }],
    ['task:release', stale],
    ['task:heartbeat', { ...stale, owner: 'ann' }],
    ['task:cancel', { ...stale, reason: 'no' }],
    ['task:answer', { ...stale, value: 1 }],
    ['task:send', { ...stale, message: 'hello' }],
  ]
  for (const [abilityId, input] of attempts) {
    const { details } = await refusalOf(engine.bus.call(abilityId as never, input as never), 'VERSION_CONFLICT')
    expect([abilityId, details]).toMatchObject([abilityId, { taskId, expected: expectedVersion, actual: version }])
  }
  expect(await engine.get(taskId)).toMatchObject({ status: 'working', name: 'a', version })
  const paused = await engine.bus.call('task:pause', { taskId, expectedVersion: version })
  expect(paused.version).toBeGreaterThan(version)
  await refusalOf(engine.pause({ id: taskId, expectedVersion: -1 }), 'INVALID_INPUT')
})

it('only one of two changes that expect the same version succeeds', async () => {
  const engine = await openEngine()
  const { id: taskId, version: expectedVersion } = await engine.create({ name: 'a' })
  const both = await Promise.allSettled(
    [1, 2].map((priority) => engine.bus.call('task:update', { taskId, expectedVersion, priority })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

it('a task is claimed, renewed, released and failed over the bus by its owner, and by no other caller', async () => {
  const { bus } = await openEngine()
  const { taskId } = await bus.call('task:create', { name: 'a' })
  const ann: Caller = { surface: 'http', owner: 'ann' }
  const { task } = await bus.call('task:claim', { owner: 'bob', leaseMs: 60_000 }, { caller: ann })
  expect(task).toMatchObject({ id: taskId, owner: 'ann', fence: 1 })
  expect((await bus.call('task:claim', { owner: 'bob' })).task).toBeNull()
  const claim = { taskId, fence: 1 }
  await bus.call('task:heartbeat', claim, { caller: ann })
  await refusalOf(
    bus.call('task:heartbeat', { ...claim, owner: 'ann' }, { caller: { ...ann, owner: 'eve' } }),
    'NOT_OWNER',
  )
  await refusalOf(bus.call('task:fail', { taskId, reason: 'no' }), 'NOT_OWNER')
  await bus.call('task:release', claim, { caller: ann })
  const again = await bus.call('task:claim', { taskId, owner: 'bob' })
  await refusalOf(bus.call('task:fail', { taskId, reason: 'late', owner: 'ann', fence: 1 }), 'STALE_CLAIM')
  const failed = await bus.call('task:fail', { taskId, reason: 'broke', owner: 'bob', fence: again.task?.fence })
  expect(failed.status).toBe('failed')
  const withoutOwner = await refusalOf(bus.call('task:claim', {}), 'INVALID_INPUT')
  expect(withoutOwner).toMatchObject({ message: expect.stringMatching(/set `owner`/), details: { field: 'owner' } })
})

it('S2-001 S2-050 task:create with a goal is for an agent, with texts only for agents that join it, else for the given executor', async () => {
  const engine = await openEngine({ executors: { work: () => 1 } })
  const made = async (input: Record<string, unknown>) => {
    const { taskId, branch } = await engine.bus.call('task:create', input as never)
    const { name, goal, executor } = (await engine.get(taskId)) as Task
    return { name, goal, executor, branch }
  }
  const words = { goal: null, executor: null }
  expect(await made({ name: 'k', goal: 'g', description: 'd' })).toMatchObject({ goal: 'g', executor: 'agent' })
  expect(await made({ name: 'n' })).toEqual({ ...words, name: 'n', branch: 'task/n' })
  expect(await made({ name: 'm', description: 'd' })).toEqual({ ...words, name: 'm', branch: 'task/m' })
  expect(await made({ description: 'first\nsecond' })).toEqual({ ...words, name: 'first', branch: 'task/first' })
  expect(await made({ name: 'n', role: 'reviewer' })).toEqual({ ...words, name: 'n', branch: null })
  expect(await made({ name: 'n', team: false })).toEqual({ ...words, name: 'n', branch: null })
  expect(await made({ name: 'n', executor: 'work' })).toMatchObject({ goal: null, executor: 'work', branch: null })
  expect(await made({ name: 'n', tasks: { a: { name: 'a' } } })).toEqual({ ...words, name: 'n', branch: null })
  await refusalOf(engine.bus.call('task:create', {}), 'INVALID_INPUT')
  await refusalOf(engine.bus.call('task:create', { name: 'x', executer: 'work' } as never), 'INVALID_INPUT')
})

it('task:create creates trees, accepts either spelling, and creates one task per key', async () => {
  const engine = await openEngine({ executors: { work: (task: ExecutorTask) => task.input } })
  const input = {
    name: 'tree',
    key: 'k',
    max: undefined,
    tasks: { a: { executor: 'work', input: 1 }, b: { executor: 'work', after: 'a' } },
  }
  const { max: _max, ...tree } = input
  const first = await engine.bus.call('task:create', tree)
  const again = await engine.bus.call('task:create', tree)
  expect(again.taskId).toBe(first.taskId)
  expect((await engine.settled(first.taskId)).status).toBe('completed')
  const below = await engine.bus
    .call('task:create', { name: 'x', parent_id: 'task-none' } as never)
    .catch((error) => error)
  expect(below).toMatchObject({ code: 'NOT_FOUND' })
})

it('task:create refuses keys with the prefixes that surfaces derive', async () => {
  const engine = await openEngine()
  for (const key of ['http:ann:k1', 'chat:k1']) {
    await refusalOf(engine.bus.call('task:create', { name: 'x', key }), 'INVALID_INPUT')
    const tasks = { inner: { name: 'x', key } }
    await refusalOf(engine.bus.call('task:create', { name: 'x', tasks }), 'INVALID_INPUT')
  }
})

it('task:create gives a task with objectives a memory branch', async () => {
  const engine = await openEngine()
  const { taskId, branch } = await engine.bus.call('task:create', {
    name: 'fix auth',
    objectives: ['find it', 'mend it'],
  })
  expect(branch).toBe('task/fix-auth')
  expect(await engine.bus.call('agent:join', { taskId, agentId: 'ann' })).toBeDefined()
})

it('event:list reads in both directions, event:feed follows from a position, each event once', async () => {
  const engine = await openEngine()
  const { bus } = engine
  for (let n = 0; n < 4; n++) await engine.create({ name: `n${n}` })
  const forth = await bus.call('event:list', { limit: 3 })
  expect(forth.events.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(forth).toMatchObject({ next: 3, seq: 4 })
  const back = await bus.call('event:list', { before: 4, limit: 2 })
  expect(back.events.map(({ seq }) => seq)).toEqual([3, 2])
  expect(back.next).toBe(2)
  expect((await take(bus.stream('event:feed', { after: 2 }), 2)).map(({ seq }) => seq)).toEqual([3, 4])
  const paged = await take(bus.stream('event:pages', { after: 1 }), 1)
  expect(paged.flatMap(({ events }) => events.map(({ seq }) => seq))).toEqual([2, 3, 4])
  const live = take(bus.stream('event:feed', { types: ['task.started'] }), 1)
  const created = await engine.create({ name: 'late' })
  // The feed begins at its first read, which is before the start is durable.
  await engine.start(created)
  expect(await live).toMatchObject([{ type: 'task.started', taskId: created.id }])
})

it('S1-012 task:stream continues after a position', async () => {
  const engine = await openEngine({
    executors: { say: async (_task: ExecutorTask, run: Run) => run.message('assistant', 'hello') },
  })
  const task = await engine.create({ executor: 'say' })
  await engine.result(task)
  const all = await take(engine.bus.stream('task:stream', { taskId: task.id }), 99)
  expect(all[0]).toMatchObject({ type: 'start' })
  expect(all.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  const message = all.find(({ type }) => type === 'message')
  const rest = await take(engine.bus.stream('task:stream', { taskId: task.id, after: message?.seq as number }), 99)
  expect(rest).toEqual(all.slice(all.indexOf(message as (typeof all)[number]) + 1))
})

it('engine:status counts the same at the first call as at the second', async () => {
  const held = deferred()
  const engine = await openEngine({ executors: { hold: () => held.promise }, maxConcurrent: 1 })
  await engine.create([{ executor: 'hold' }, { executor: 'hold' }, { name: 'by hand' }])
  for (let n = 0; n < 2; n++) {
    const status = await engine.bus.call('engine:status', {})
    expect(status).toMatchObject({ working: true, claimable: 1, executors: ['hold'], seq: expect.any(Number) })
    expect(Object.values(status.tasks).reduce((sum, each) => sum + each, 0)).toBe(3)
  }
  held.resolve()
  await engine.idle()
})

it('a caller with only the scope read changes nothing with any ability', async () => {
  const engine = await openEngine()
  const { id: taskId } = await engine.create({ name: 'a' })
  const before = await engine.get(taskId)
  for (const ability of engine.bus.abilities()) {
    expect(accessClasses).toContain(ability.access)
    if (ability.access === 'read') continue
    const refused = ability.isStream
      ? take(engine.bus.stream(ability.id as never, { taskId } as never, { caller: watcher }), 1)
      : engine.bus.call(ability.id as never, { taskId } as never, { caller: watcher })
    await refusalOf(refused as Promise<unknown>, 'FORBIDDEN')
  }
  expect(await engine.get(taskId)).toEqual(before)
})

it('a model creates tasks with those fields only that models are offered', async () => {
  const engine = await openEngine({ executors: { work: () => 1 } })
  const { id: taskId } = await engine.create({ name: 'a' })
  const caller = modelOf(taskId)
  const [tool] = engine.bus.toolsFor(caller).definitions.filter(({ function: { name } }) => name === 'task_create')
  const offered = Object.keys(tool?.function.parameters['properties'] as object)
  expect(offered).toContain('goal')
  expect(offered).not.toContain('key')
  await refusalOf(engine.bus.call('task:create', { name: 'x', key: 'k' }, { caller }), 'INVALID_INPUT')
  await refusalOf(engine.bus.call('task:update', { taskId, name: 'x' }, { caller }), 'FORBIDDEN')
})

it('I25 task:get shows a model no fence, key or input, and no task outside its subtree', async () => {
  const engine = await openEngine()
  const before = await engine.create({ name: 'before' })
  const own = await engine.create({ name: 'own', key: 'k', input: { secret: 1 }, blockedBy: [before.id] })
  const after = await engine.create({ name: 'after', blockedBy: [own.id] })
  const whole = await engine.bus.call('task:get', { taskId: own.id })
  expect(whole).toMatchObject({
    task: { key: 'k', input: { secret: 1 }, fence: 0 },
    dependencies: [{ id: before.id }],
    dependents: [{ id: after.id }],
  })
  const shown = await engine.bus.call('task:get', { taskId: own.id }, { caller: modelOf(own.id) })
  expect(Object.keys(shown.task).filter((key) => ['key', 'input', 'fence', 'leaseUntil'].includes(key))).toEqual([])
  expect(shown).toMatchObject({ dependencies: [], dependents: [] })
  const client: Caller = { surface: 'mcp', model: true }
  const over = await engine.bus.call('task:get', { taskId: own.id }, { caller: client })
  expect(over.task).not.toHaveProperty('fence')
  await refusalOf(engine.bus.call('task:list', { keyPrefix: 'k' }, { caller: client }), 'INVALID_INPUT')
})

it('I25 a run may not name a memory branch outside its team at any level of a tree', async () => {
  const engine = await openEngine()
  const { branch } = await engine.bus.call('task:create', { name: 'other' })
  const { taskId } = await engine.bus.call('task:create', { name: 'own' })
  const caller: Caller = { surface: 'run', taskId, run: 1 }
  const parentBranch = branch as string
  for (const input of [
    { name: 'x', parentBranch },
    { name: 'x', tasks: { a: { name: 'a', parentBranch } } },
  ]) {
    await refusalOf(engine.bus.call('task:create', input, { caller }), 'FORBIDDEN')
  }
})
