// I25: what a model calls reaches only what it may call, and only its own subtree. Goal: whatever the model of a task calls, by any
// ability, with any lists, through the bus or with the engine that abilities get, no other task is read or changed. Method: random
// families, random callers, every registered ability with every shape of input that names tasks; the rows and events of all tasks outside
// are compared before and after.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../src/bus/ability.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { TaskEngine } from '../../src/engine/task-engine.ts'
import { listAllows } from '../../src/entities/ability-pattern.ts'
import { history, openEngine } from '../engine/world.ts'
import { isLong, runs } from '../tier.ts'
import { heldModel, modelOf } from './world.ts'

/** Marks every text of a task that callers outside of it must not see. */
const secret = (name: string) => `secret-of-${name}`

interface World {
  engine: Engine
  /** The numbers of the same tasks on the board. */
  numbers: Record<string, number>
  /** By name: own, child, grandchild, parent, sibling, unrelated. */
  ids: Record<string, string>
}

const inside = ['own', 'child', 'grandchild']
const outside = ['parent', 'sibling', 'unrelated']

async function setup(): Promise<World> {
  const engine = await openEngine({ model: heldModel().model, autoStart: false, abilities: [notes] })
  const ids: Record<string, string> = {}
  for (const [name, parent] of [
    ['parent', undefined],
    ['own', 'parent'],
    ['sibling', 'parent'],
    ['child', 'own'],
    ['grandchild', 'child'],
    ['unrelated', undefined],
  ] as const) {
    const task = await engine.create({
      name,
      // Without a goal no executor runs it, so that it may be claimed.
      ...(name === 'grandchild' ? { description: secret(name) } : { goal: secret(name) }),
      metadata: { kept: secret(name) },
      ...(parent === undefined ? {} : { parentId: ids[parent] as string }),
    })
    ids[name] = task.id
  }
  const { tasks } = await engine.bus.call('board:list', {})
  const numbers = Object.fromEntries(tasks.map(({ subject, id }) => [subject, id]))
  return { engine, ids, numbers }
}

/** An ability of a program, with a task in its input. */
const notes = defineAbility({
  id: 'notes:add',
  description: 'Keeps a note with a task.',
  input: z.object({ taskId: z.string() }),
  output: z.object({ noted: z.string() }),
  scope: ({ taskId }) => [taskId],
  handle: ({ taskId }) => ({ noted: taskId }),
})

const goals = { goal: 'A new one', message: 'Go on', reason: 'Requested', value: 'yes' }

/** Inputs that name a task in every way that an ability might accept, with known keys only, as strict abilities refuse others. */
function inputsNaming(taskId: string, keys: readonly string[]): Array<Record<string, unknown>> {
  const naming: Record<string, unknown> = {
    taskId,
    taskIds: [taskId],
    parentTaskId: taskId,
    blockedBy: [taskId],
    message: `@${taskId} go on`,
    task: { id: taskId, completionStatus: 'cancelled' },
    call: { id: 'call-forged', taskId, abilityName: 'a:b', parameters: '{}', status: 'completed' },
  }
  const known = Object.fromEntries(Object.entries({ ...goals, ...naming }).filter(([key]) => keys.includes(key)))
  const without = (name: string) => Object.fromEntries(Object.entries(known).filter(([key]) => key !== name))
  return [known, without('blockedBy'), without('parentTaskId'), without('taskId'), {}]
}

/** The same for the board, where a task has a number as well, and one input may name several tasks. */
function boardInputsNaming(
  ref: string | number,
  own: string,
  child: string,
  keys: readonly string[],
): Array<Record<string, unknown>> {
  const words = { subject: 'A new one', as: 'ann', to: 'ann', body: 'Go on', topic: 'shutdown' }
  const inputs: Array<Record<string, unknown>> = [
    { ...words, id: ref },
    { ...words, id: ref, status: 'in_progress' },
    { ...words, id: ref, status: 'completed' },
    { ...words, id: ref, status: 'deleted' },
    { ...words, id: child, addBlocks: [ref], blocks: [ref], task: ref },
    { ...words, id: child, addBlockedBy: [ref], blockedBy: [ref] },
    { ...words, id: child, removeBlocks: [ref], removeBlockedBy: [ref] },
    { ...words, parent: ref },
    { ...words, parent: own, blocks: [ref] },
    { ...words, id: ref, children: 'cascade' },
    { ...words },
  ]
  return inputs.map((input) => Object.fromEntries(Object.entries(input).filter(([key]) => keys.includes(key))))
}

async function rowsOf({ engine, ids }: Pick<World, 'engine' | 'ids'>, names: readonly string[]): Promise<string> {
  const rows: unknown[] = []
  for (const name of names) {
    const id = ids[name] as string
    rows.push(
      await engine.get(id),
      await engine.messages(id),
      await engine.calls(id),
      (await history(engine, id)).length,
    )
  }
  return JSON.stringify(rows)
}

/** The ids of the caller's own task and of all tasks below it. */
async function familyOf({ engine, ids }: World): Promise<Set<string>> {
  return new Set([ids['own'] as string, ...(await engine.subtree(ids['own'] as string)).map(({ id }) => id)])
}

/** The result as text; that of a refusal too, because it must not reveal anything either. Waits and streams are aborted at once. */
async function outcomeOf(
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ text: string; code: string | undefined }> {
  const released = new AbortController()
  const working = work(released.signal)
  working.catch(() => {})
  for (let turn = 0; turn < 6; turn++) await new Promise(setImmediate)
  released.abort(new Error('released'))
  try {
    return { text: JSON.stringify(await working) ?? '', code: undefined }
  } catch (error) {
    return { text: String(error), code: ErrandError.isInstance(error) ? error.code : 'not ours' }
  }
}

/** The first breach: a task outside was changed, revealed or created. */
async function breachIn(world: World, act: () => Promise<{ text: string }>): Promise<string | undefined> {
  const before = await rowsOf(world, outside)
  // With what is deleted now, and what is made.
  const family = await familyOf(world)
  const others = (await history(world.engine)).length
  const { text } = await act()
  if ((await rowsOf(world, outside)) !== before) return `changed something outside: ${text}`
  const revealed = outside.find((name) => text.includes(secret(name)))
  if (revealed !== undefined) return `revealed ${revealed}: ${text}`
  for (const id of await familyOf(world)) family.add(id)
  const made = (await history(world.engine)).slice(others).find(({ taskId }) => !family.has(taskId))
  return made === undefined ? undefined : `wrote ${made.type} outside: ${text}`
}

const patterns = [
  '*',
  'task:*',
  'board:*',
  'ldg:*',
  'bus:*',
  'task:list',
  'task:create',
  'notes:add',
  'ldg:task:save',
  'model:*',
]
/** Abilities that every model may use for its own tasks, and for no others. */
const ofOneTask = ['board:create', 'board:update', 'board:get', 'board:why', 'board:log']
const lists = fc.option(fc.array(fc.subarray(patterns), { maxLength: 3 }), { nil: undefined })

it('I25 a model never touches a task outside of its subtree, nor the ledger, nor the bus, whatever it calls', async () => {
  let world = await setup()
  const abilities = world.engine.bus.abilities()
  expect(abilities.length).toBeGreaterThan(25)
  const called = new Map<string, Set<string | undefined>>()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...abilities),
      fc.constantFrom(...inside, ...outside, 'missing'),
      fc.nat(54),
      fc.boolean(),
      lists,
      async (ability, name, shape, byNumber, allowed) => {
        const { engine, ids, numbers } = world
        const caller = modelOf(ids['own'] as string, allowed)
        const keys = Object.keys((ability.inputSchema['properties'] as object | undefined) ?? {})
        const id = ids[name] ?? 'task-missing'
        const inputs =
          ability.moduleName === 'board'
            ? boardInputsNaming(
                byNumber ? (numbers[name] ?? 99) : id,
                ids['own'] as string,
                ids['child'] as string,
                keys,
              )
            : inputsNaming(id, keys)
        const input = inputs[shape % inputs.length] as Record<string, unknown>
        let code: string | undefined
        const breach = await breachIn(world, async () => {
          const outcome = await outcomeOf((signal) => call(engine, ability, input, { caller, signal }))
          code = outcome.code
          return outcome
        })
        const { id: abilityId, moduleName } = ability
        called.set(abilityId, (called.get(abilityId) ?? new Set()).add(code))
        if (await isWornOut(world)) world = await setup()
        expect([abilityId, input, breach]).toEqual([abilityId, input, undefined])
        const open = (allowed ?? []).every((list) => listAllows(list, abilityId))
        if (moduleName === 'ldg' || moduleName === 'bus' || !ability.models || !open) {
          expect([abilityId, code]).toEqual([abilityId, 'FORBIDDEN'])
        }
      },
    ),
    { numRuns: runs(80, 1_500), seed: 25 },
  )
  if (!isLong) return
  // Each ability was called with every outcome that it has.
  for (const { id, models, moduleName } of abilities) {
    if (models && moduleName === 'board' && ofOneTask.includes(id)) {
      expect([id, called.get(id)?.has('FORBIDDEN'), called.get(id)?.has(undefined)]).toEqual([id, true, true])
    }
    if (models && moduleName === 'task' && id !== 'task:route') {
      expect([id, called.get(id)?.has('FORBIDDEN')]).toEqual([id, true])
    }
  }
})

it('I25 a model gets no further with the engine that its abilities work with, past the bus', async () => {
  for (const name of outside) {
    const world = await setup()
    const { ids } = world
    const id = ids[name] as string
    const own = ids['own'] as string
    const within = boundEngine(world)
    const attempts = attemptsOn(within, id, own)
    for (const [what, attempt] of Object.entries(attempts)) {
      let code: string | undefined
      const breach = await breachIn(world, async () => {
        const outcome = await outcomeOf(async () => attempt())
        code = outcome.code
        return outcome
      })
      expect([what, name, breach]).toEqual([what, name, undefined])
      expect([what, name, code]).toEqual([what, name, 'FORBIDDEN'])
    }
  }
})

it('I25 the engine that an ability of a model works with can change the subtree of the model', async () => {
  const world = await setup()
  const within = boundEngine(world)
  const child = world.ids['child'] as string
  expect(await within.get(child)).toMatchObject({ name: 'child' })
  expect((await within.list({ parentId: world.ids['own'] as string })).tasks).toHaveLength(1)
  await within.update(child, { name: 'renamed' })
  await within.cancel(child)
  expect(await world.engine.get(child)).toMatchObject({ name: 'renamed', status: 'canceled' })
})

it('I25 the harness finds an ability that ignores its scope', async () => {
  const world = await setup()
  world.engine.bus.register({
    id: 'leak:get',
    description: 'Reads any task.',
    input: z.object({ taskId: z.string() }),
    output: z.unknown(),
    handle: ({ taskId }) => world.engine.get(taskId),
  })
  world.engine.bus.register({
    id: 'leak:cancel',
    description: 'Cancels any task.',
    input: z.object({ taskId: z.string() }),
    output: z.unknown(),
    handle: async ({ taskId }) => (await world.engine.cancel(taskId)).status,
  })
  const caller = modelOf(world.ids['own'] as string)
  const breaches: Array<string | undefined> = []
  for (const id of ['leak:get', 'leak:cancel']) {
    const input = { taskId: world.ids['unrelated'] }
    breaches.push(
      await breachIn(world, () =>
        outcomeOf((signal) => world.engine.bus.call(id as string, input, { caller, signal })),
      ),
    )
  }
  expect(breaches).toEqual([
    expect.stringContaining('revealed unrelated'),
    expect.stringContaining('changed something outside'),
  ])
})

/** True if a task has ended, after which calls change nothing any more. */
async function isWornOut({ engine, ids }: World): Promise<boolean> {
  const tasks = await Promise.all(inside.map((name) => engine.get(ids[name] as string)))
  return tasks.some((task) => task === null || task.completedAt !== null)
}

async function call(
  { bus }: Engine,
  { id, isStream }: { id: string; isStream: boolean },
  input: unknown,
  options: { caller: ReturnType<typeof modelOf>; signal: AbortSignal },
): Promise<unknown> {
  if (!isStream) return bus.call(id as string, input, options)
  const items: unknown[] = []
  for await (const item of bus.stream(id as string, input, options)) items.push(item)
  return items
}

/** The engine as an ability gets it when the model of `own` calls. */
function boundEngine({ engine, ids }: World): Engine {
  return TaskEngine.within(engine as unknown as TaskEngine, {
    surface: 'model',
    taskId: ids['own'] as string,
  }) as unknown as Engine
}

/** Every method that reads or changes something, aimed at a task that is not the caller's. */
function attemptsOn(engine: Engine, id: string, own: string): Record<string, () => unknown> {
  const first = async (items: AsyncIterable<unknown>): Promise<unknown> => {
    for await (const item of items) return item
    return undefined
  }
  return {
    'create below': () => engine.create({ goal: 'x', parentId: id }),
    'create a root': () => engine.create({ goal: 'x' }),
    'create after': () => engine.create({ goal: 'x', parentId: own, blockedBy: [id] }),
    get: () => engine.get(id),
    find: () => engine.find(id),
    'list all': () => engine.list(),
    'list below': () => engine.list({ parentId: id }),
    'list roots': () => engine.list({ parentId: null }),
    children: () => engine.children(id),
    subtree: () => engine.subtree(id),
    dependencies: () => engine.dependencies(id),
    calls: () => engine.calls(id),
    messages: () => engine.messages(id),
    runs: () => engine.runs(id),
    update: () => engine.update(id, { name: 'x' }),
    'update after': () => engine.update(own, { blockedBy: [id] }),
    delete: () => engine.delete(id),
    start: () => engine.start(id),
    pause: () => engine.pause(id),
    resume: () => engine.resume(id),
    cancel: () => engine.cancel(id),
    retry: () => engine.retry(id),
    complete: () => engine.complete(id),
    fail: () => engine.fail(id, 'x'),
    answer: () => engine.answer(id, 'x'),
    send: () => engine.send(id, 'x'),
    why: () => engine.why(id),
    claim: () => engine.claim(id, { owner: 'x' }),
    'claim any': () => engine.claim(null, { owner: 'x' }),
    'claim below': () => engine.claim(null, { owner: 'x', parentId: id }),
    heartbeat: () => engine.heartbeat(id),
    release: () => engine.release(id),
    block: () => engine.block(id, own),
    'block by': () => engine.block(own, id),
    unblock: () => engine.unblock(id, own),
    'unblock from': () => engine.unblock(own, id),
    graph: () => engine.graph(),
    'graph below': () => engine.graph({ parentId: id }),
    result: () => engine.result(id),
    settled: () => engine.settled(id),
    stream: () => first(engine.stream(id)),
    events: () => first(engine.events()),
    'events of': () => first(engine.events({ taskId: id })),
    subscribe: () => engine.subscribe('*', () => {}),
    startHeld: () => engine.startHeld(),
    setLimits: () => engine.setLimits({ maxConcurrent: 1 }),
    setSharedLimits: () => engine.setSharedLimits({ maxConcurrent: 1 }),
    purge: () => engine.purge({ before: 1 }),
    work: () => engine.work(),
    close: () => engine.close(),
  }
}
