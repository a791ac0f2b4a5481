// I25, from every place in a family: whichever task's model calls, with whichever ability and whichever task named, what is
// neither that task nor below it stays as it was and is not shown. Method: a family of three levels and a outsider; random callers,
// abilities and names; the ledger's rows of everybody outside are compared before and after. The ledger, the bus and what is not
// for models are FORBIDDEN to each of them, and so is every name from outside.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Ability, defineAbility } from '../../src/bus/ability.ts'
import { ErrandError } from '../../src/core/errors.ts'
import type { Engine, EngineOptions } from '../../src/engine/engine-api.ts'
import { history, openEngine, turns } from '../engine/world.ts'
import { heldModel, modelOf } from '../operations/world.ts'
import { isLong, runs } from '../tier.ts'

const parents = {
  root: undefined,
  left: 'root',
  right: 'root',
  leaf: 'left',
  twig: 'left',
  outsider: undefined,
  child: 'outsider',
} as const
type Name = keyof typeof parents
const names = Object.keys(parents) as Name[]

function isWithin(name: Name, scope: Name): boolean {
  for (let at: Name | undefined = name; at !== undefined; at = parents[at]) if (at === scope) return true
  return false
}

/** An ability of an embedder: only the bus keeps foreign task names from its handler. */
const noted: string[] = []
const note = defineAbility({
  id: 'notes:add',
  description: 'Keeps a note with a task.',
  input: z.object({ taskId: z.string() }),
  output: z.object({ kept: z.boolean() }),
  scope: ({ taskId }) => [taskId],
  handle: ({ taskId }) => ({ kept: noted.push(taskId) > 0 }),
})

interface Family {
  engine: Engine
  ids: Record<Name, string>
}

async function setup(extra: NonNullable<EngineOptions['abilities']> = []): Promise<Family> {
  const engine = await openEngine({ model: heldModel().model, autoStart: false, abilities: extra })
  const ids = {} as Record<Name, string>
  for (const name of names) {
    const parent = parents[name]
    const below = parent === undefined ? {} : { parentId: ids[parent] }
    ids[name] = (await engine.create({ goal: `secret of ${name}`, name, ...below })).id
  }
  return { engine, ids }
}

/** Every input field that takes ids of tasks, if the ability has it; and the other required fields. */
function inputFor({ id, inputSchema }: Ability, taskId: string): Record<string, unknown> {
  const known = Object.keys((inputSchema['properties'] as object | undefined) ?? {})
  const given: Record<string, unknown> = {
    taskId,
    taskIds: [taskId],
    parentId: taskId,
    ids: [taskId],
    blockedBy: [taskId],
    message: `@${taskId} go on`,
    goal: 'Help',
    id: taskId,
    parent: taskId,
    subject: 'Help',
    to: 'ada',
    body: 'go on',
    topic: 'shutdown',
    requestId: 'req-x',
    approve: true,
    reason: 'on request',
    value: 'yes',
    task: { id: taskId, completionStatus: 'cancelled' },
    call: { id: 'call-x', taskId, abilityName: 'a:b', parameters: '{}', status: 'completed' },
    agentId: 'ada',
    objectiveId: 1,
    descriptions: ['Help'],
    ...(id === 'objective:update' ? { status: 'done' } : {}),
    ...(id === 'task:signal' ? { name: 'paid' } : {}),
    ...(id.startsWith('mem:')
      ? { sessionId: 's', type: 'insight', content: 'x', text: 'x', query: 'x', level: 'task' }
      : {}),
  }
  // A dependency on the task above would be a cycle.
  const circular = known.includes('parentId') || known.includes('parent') ? ['blockedBy'] : []
  return Object.fromEntries(Object.entries(given).filter(([key]) => known.includes(key) && !circular.includes(key)))
}

/** All tasks outside, as one text. */
async function outsideOf({ engine, ids }: Family, scope: Name): Promise<string> {
  const rows: unknown[] = []
  for (const name of names.filter((each) => !isWithin(each, scope))) {
    const id = ids[name]
    rows.push(await engine.get(id), await engine.messages(id), await engine.calls(id), await history(engine, id))
  }
  return JSON.stringify(rows)
}

/** What the model would read of it. Waits and streams are canceled. */
async function outputFor({ engine }: Family, ability: Ability, input: unknown, scope: string) {
  const released = new AbortController()
  const options = { caller: modelOf(scope), signal: released.signal }
  const work = async (): Promise<unknown> => {
    if (!ability.isStream) return engine.bus.call(ability.id as string, input, options)
    const items: unknown[] = []
    for await (const item of engine.bus.stream(ability.id as string, input, options)) items.push(item)
    return items
  }
  const working = work().then(
    (output) => ({ text: JSON.stringify(output) ?? '', code: undefined }),
    (error: unknown) => ({ text: String(error), code: ErrandError.isInstance(error) ? error.code : 'not ours' }),
  )
  await turns(6)
  released.abort(new Error('released'))
  return working
}

/** Describes what of the outside was changed or shown; undefined when nothing was. */
async function breachOf(family: Family, ability: Ability, scope: Name, named: Name) {
  const before = await outsideOf(family, scope)
  const { text, code } = await outputFor(family, ability, inputFor(ability, family.ids[named]), family.ids[scope])
  const shown = names.find((name) => !isWithin(name, scope) && text.includes(`secret of ${name}`))
  const breach = (await outsideOf(family, scope)) === before ? shown && `showed ${shown}` : 'changed something outside'
  return { breach, code }
}

/**
 * Abilities that name no foreign task: by a mention in a message (then it is unknown), or to choose among readable
 * ones, or not at all.
 */
const namesNone: readonly string[] = [
  'board:graph',
  'board:inbox',
  'board:request',
  'board:requests',
  'board:respond',
  'board:send',
  'mem:facts',
  'mem:observations',
  'mem:why',
  'model:list',
  'task:route',
]

describe('the calls of a model', () => {
  it('I25 a model reaches nothing outside its own subtree, whichever task it works on and whatever it calls', async () => {
    let family = await setup([note])
    const abilities = family.engine.bus.abilities()
    const refused = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...abilities),
        fc.constantFrom(...names),
        fc.constantFrom(...names),
        async (ability, scope, named) => {
          const { breach, code } = await breachOf(family, ability, scope, named)
          expect([ability.id, scope, named, breach]).toEqual([ability.id, scope, named, undefined])
          // Only what the bus has allowed has reached it.
          const reached = noted.splice(0)
          expect(
            reached.filter((id) => !names.some((name) => family.ids[name] === id && isWithin(name, scope))),
          ).toEqual([])
          const isClosed = ability.moduleName === 'bus' || !ability.models
          const isOutside = !isWithin(named, scope) && !namesNone.includes(ability.id)
          // A task that works cannot delete itself.
          const isItself = ['board:delete', 'task:complete'].includes(ability.id) && named === scope
          // Its parts would become roots.
          const hasParts = ability.id === 'board:delete' && names.some((name) => parents[name] === named)
          if (isClosed || isOutside || isItself || hasParts)
            expect([ability.id, scope, named, code]).toEqual([ability.id, scope, named, 'FORBIDDEN'])
          // None of these tasks has a team, so their models may write to no branch of memory.
          else if (ability.moduleName !== 'mem') expect([ability.id, code]).not.toEqual([ability.id, 'FORBIDDEN'])
          if (code === 'FORBIDDEN') refused.set(ability.id, (refused.get(ability.id) ?? 0) + 1)
          // A family in which something has ended, or grown, is replaced.
          if ((await family.engine.list()).tasks.length === names.length && code !== undefined) return
          await family.engine.close()
          family = await setup([note])
        },
      ),
      { numRuns: runs(80, 800), seed: 404 },
    )
    if (!isLong) return
    // Each ability was refused at least once.
    const expected = abilities.filter(({ id }) => !namesNone.includes(id)).map(({ id }) => id)
    expect([...refused.keys()].sort()).toEqual(expected.sort())
  })

  it('I25 the harness detects an ability that does not check the task it is given', async () => {
    const leak = defineAbility({
      id: 'leak:rename',
      description: 'Renames any task.',
      input: z.object({ taskId: z.string() }),
      output: z.unknown(),
      handle: async ({ taskId }) => (await family.engine.update(taskId, { name: 'renamed' })).status,
    })
    const family: Family = await setup([leak])
    const found: Array<string | undefined> = []
    for (const named of ['left', 'root', 'outsider'] as const) {
      found.push((await breachOf(family, leak, 'left', named)).breach)
    }
    expect(found).toEqual([undefined, 'changed something outside', 'changed something outside'])
  })
})
