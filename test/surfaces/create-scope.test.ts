// What a principal with only the scope create can do to the tasks of others and learn about them: nothing. Each attack is made twice, with
// a task of another principal and with one that does not exist; both answers are the same, and the other task is unchanged.
import { describe, expect, it } from 'vitest'
import type { Access } from '../../src/bus/caller.ts'
import type { Engine } from '../../src/index.ts'
import type { Principal } from '../../src/surfaces/http/index.ts'
import { openWorld, type Reply } from './http/world.ts'

const principals: Record<string, Principal> = {
  ann: { scopes: ['create', 'read', 'control'], owner: 'ann' },
  mallory: { scopes: ['create'], owner: 'mallory' },
  reader: { scopes: ['create', 'read'], owner: 'reader' },
  nameless: { scopes: ['create'] },
  /** A principal with the name of a surface, to which no task of that surface belongs. */
  library: { scopes: ['create'], owner: 'library' },
  http: { scopes: ['create'], owner: 'http' },
}

/** Requests in the name of a principal. */
async function setup() {
  const { engine, ask } = await openWorld(
    { rateLimit: false, authenticate: ({ headers }) => principals[headers.get('x-name') as string] ?? null },
    { autoStart: false },
  )
  const as =
    (name: string) =>
    (path: string, body: object, headers: Record<string, string> = {}) =>
      ask('POST', path, body, { 'x-name': name, ...headers })
  const created = async (name: string, body: object): Promise<string> => {
    const reply = await as(name)('/tasks', body)
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.taskId as string
  }
  return { engine, as, created }
}

/** A response without the requested id. */
const wordsOf = ({ status, body }: Reply, named: unknown) =>
  JSON.stringify({ status, body }).replaceAll(JSON.stringify(named).replaceAll('"', ''), 'X')

async function standing(engine: Engine, id: string): Promise<object> {
  const task = await engine.get(id)
  return { ...task, children: await engine.children(id) }
}

const unknownId = 'task-aaaaaaaaaaaaaaaa'

/** Every way to name a task in a creation; `number` is its number on the board. */
const ways: Array<[title: string, path: string, naming: (id: string) => object]> = [
  ['a parent', '/tasks', (parentId) => ({ name: 'x', parentId })],
  ['a parent of a tree', '/tasks', (parentId) => ({ name: 'x', parentId, tasks: { a: {}, b: {} } })],
  ['a task that it comes after', '/tasks', (id) => ({ name: 'x', blockedBy: [id] })],
  ['a task that a child comes after', '/tasks', (id) => ({ name: 'x', tasks: { a: { blockedBy: [id] } } })],
  ['a task of the board that it blocks', '/abilities/board:create', (id) => ({ subject: 'x', blocks: [id] })],
  ['a task of the board that it comes after', '/abilities/board:create', (id) => ({ subject: 'x', blockedBy: [id] })],
  ['a task of the board that it is a part of', '/abilities/board:create', (id) => ({ subject: 'x', parent: id })],
  ['a task whose parts a new board holds', '/abilities/board:open', (id) => ({ board: 'mine', parent: id })],
  ['a task that an agent joins', '/abilities/agent:join', (id) => ({ taskId: id, agentId: 'x' })],
]

describe.each(['mallory', 'nameless', 'library', 'http'])('With only the scope create, as %s', (name) => {
  it.each(ways)(
    'V-08 the scope create neither affects the task of another principal nor reveals it: %s',
    async (_title, path, naming) => {
      const { engine, as, created } = await setup()
      const ofAnn = await created('ann', { name: 'secret plan', tasks: { part: {} } })
      const ofProgram = (await engine.create({ name: 'secret round' })).id
      for (const id of [ofAnn, ofProgram]) {
        const before = await standing(engine, id)
        const [known, unknown] = [await as(name)(path, naming(id)), await as(name)(path, naming(unknownId))]
        expect(known.status).toBe(404)
        expect(wordsOf(known, id)).toBe(wordsOf(unknown, unknownId))
        expect(await standing(engine, id)).toEqual(before)
      }
      expect((await engine.list({ limit: 0 })).total).toBe(3)
    },
  )

  it('V-08 the scope create adds to its own tasks, and to the tasks below them', async () => {
    const { engine, as, created } = await setup()
    const own = await created(name, { name: 'own', tasks: { part: {} } })
    const below = await engine.create({ name: 'by a program', parentId: own })
    for (const id of [own, below.id]) {
      const before = await created(name, { name: 'before', blockedBy: [id] })
      const inside = await created(name, { name: 'inside', parentId: id })
      const reply = await as(name)('/abilities/board:create', { subject: 'x', blocks: [before], parent: inside })
      expect(reply.status).toBe(200)
      expect((await engine.get(before))?.blockedBy).toContain(reply.body.task.taskId)
    }
  })
})

it("V-08 the scope create reads no number of another principal's task on the board", async () => {
  const { engine, as, created } = await setup()
  const id = await created('ann', { name: 'secret' })
  const number = (await engine.bus.call('board:get', { id })).task.id
  for (const naming of [
    (ref: number) => ({ subject: 'x', blocks: [ref] }),
    (ref: number) => ({ subject: 'x', parent: ref }),
  ]) {
    const [known, unknown] = [
      await as('mallory')('/abilities/board:create', naming(number)),
      await as('mallory')('/abilities/board:create', naming(9)),
    ]
    expect(known.status).toBe(404)
    expect(wordsOf(known, number)).toBe(wordsOf(unknown, 9))
  }
})

it("V-08 the scope create adds to no board of another principal's task, and does not reveal that it exists", async () => {
  const { engine, as, created } = await setup()
  const top = await created('ann', { name: 'secret' })
  await engine.bus.call('board:open', { board: 'team', parent: top })
  const put = (board: string) => as('mallory')('/abilities/board:create', { subject: 'x', board })
  const [known, unknown] = [await put('team'), await put('none')]
  expect(known.status).toBe(404)
  expect(wordsOf(known, 'team')).toBe(wordsOf(unknown, 'none'))
  const taken = await as('mallory')('/abilities/board:open', { board: 'team' })
  expect(taken.body.code).toBe('KEY_CONFLICT')
  expect(JSON.stringify(taken.body)).not.toContain(top)
  expect(await engine.children(top)).toEqual([])
})

it('V-08 the scope create with the name of a surface as owner affects no task of principals without a name, and the reverse', async () => {
  const { as, created } = await setup()
  const [ofNameless, ofHttp] = [await created('nameless', { name: 'a' }), await created('http', { name: 'b' })]
  expect((await as('http')('/tasks', { name: 'x', parentId: ofNameless })).status).toBe(404)
  expect((await as('nameless')('/tasks', { name: 'x', parentId: ofHttp })).status).toBe(404)
})

it("V-08 the scope create writes no facts to, and no branch below, another principal's branch, and does not reveal that it exists", async () => {
  const { engine, as, created } = await setup()
  const id = await created('ann', { name: 'secret', team: true })
  const branch = 'task/secret'
  const observed = { sessionId: 's', type: 'insight', content: 'evil' }
  const attacks: Array<[path: string, body: object, unknown: object, named: unknown, none: unknown]> = []
  for (const [path, said] of [
    ['mem:remember', { text: 'evil' }],
    ['mem:observe', observed],
  ] as const) {
    const at = `/abilities/${path}`
    attacks.push([at, { ...said, taskId: id }, { ...said, taskId: unknownId }, id, unknownId])
    attacks.push([at, { ...said, branch }, { ...said, branch: 'task/none' }, branch, 'task/none'])
  }
  const below = (parentBranch: unknown) => ({ name: 'x', team: true, parentBranch })
  attacks.push(['/tasks', below(branch), below('task/none'), branch, 'task/none'])
  for (const [path, body, other, named, none] of attacks) {
    const [known, unknown] = [await as('mallory')(path, body), await as('mallory')(path, other)]
    expect([path, known.status]).toEqual([path, 404])
    expect(wordsOf(known, named)).toBe(wordsOf(unknown, none))
  }
  expect((await as('mallory')('/abilities/mem:save', { task: { id, result: 'evil' } })).status).toBe(403)
  expect((await engine.bus.call('mem:facts', { branch })).facts).toEqual([])
  const own = await created('mallory', { name: 'own', team: true })
  expect((await as('mallory')('/abilities/mem:remember', { text: 'mine', taskId: own })).status).toBe(200)
  expect((await as('ann')('/abilities/mem:remember', { text: 'by control', taskId: own })).status).toBe(200)
})

it('V-08 the scope create does not fail the group of another principal by a child that fails', async () => {
  const { engine, as, created } = await setup()
  const group = await created('ann', { name: 'group', tasks: { part: {} } })
  const reply = await as('mallory')('/tasks', { name: 'trap', parentId: group })
  expect(reply.status).toBe(404)
  const [part] = await engine.children(group)
  await engine.start(part?.id as string)
  await engine.complete(part?.id as string)
  expect((await engine.get(group))?.status).toBe('completed')
})

it('V-08 the scope create with read may depend on any task, and affects none', async () => {
  const { engine, as, created } = await setup()
  const id = await created('ann', { name: 'first' })
  const second = await created('reader', { name: 'second', blockedBy: [id] })
  expect((await engine.get(second))?.blockedBy).toEqual([id])
  expect((await as('reader')('/tasks', { name: 'x', parentId: id })).status).toBe(404)
  const blocks = await as('reader')('/abilities/board:create', { subject: 'x', blocks: [id] })
  expect(blocks.status).toBe(404)
  const both = await as('reader')('/tasks', { name: 'x', parentId: id, blockedBy: [id] })
  expect(both.status).toBe(404)
})

it('V-08 the scope control adds to the tasks of others', async () => {
  const { engine, as, created } = await setup()
  const id = await created('mallory', { name: 'of another' })
  await created('ann', { name: 'a part', parentId: id })
  const blocks = await as('ann')('/abilities/board:create', { subject: 'x', blocks: [id] })
  expect(blocks.status).toBe(200)
  expect((await engine.get(id))?.blockedBy).toEqual([blocks.body.task.taskId])
})

const input = { name: 'secret', key: 'invoice-7' }

it('V-08 a key belongs to the principal that gives it', async () => {
  const { engine, created } = await setup()
  const ofProgram = await engine.create(input)
  const [ann, mallory, reader] = [
    await created('ann', input),
    await created('mallory', { name: 'another', key: input.key, tasks: { part: { key: 'part' } } }),
    await created('reader', { ...input, tasks: { part: { key: 'part' } } }),
  ]
  expect(new Set([ofProgram.id, ann, mallory, reader]).size).toBe(4)
  expect(await created('ann', input)).toBe(ann)
  expect(await created('mallory', { name: 'again', key: input.key, tasks: { part: {} } })).toBe(mallory)
  expect((await engine.get(ann))?.key).toBe('own:owner:ann:invoice-7')
  expect((await engine.create(input)).id).toBe(ofProgram.id)
})

it('V-08 a key with the name of another principal in it is refused', async () => {
  const { as, created } = await setup()
  await created('ann', input)
  for (const name of ['nameless', 'mallory', 'reader']) {
    const reply = await as(name)('/tasks', { ...input, key: 'own:owner:ann:invoice-7' })
    expect(reply.body.code).toBe('INVALID_INPUT')
  }
})

it('V-08 a key of a principal without a name reveals nothing of the task of another one', async () => {
  const { engine, as, created } = await setup()
  const { id } = await engine.create({ ...input, key: 'round' })
  const nested = { name: 'tree', tasks: { part: { key: 'round' } } }
  for (const body of [{ ...input, key: 'round' }, { name: 'another', input: 1, key: 'round' }, nested]) {
    const reply = await as('nameless')('/tasks', body)
    expect(reply.body).toMatchObject({ status: 409, code: 'KEY_CONFLICT', details: { key: 'round' } })
    expect(JSON.stringify(reply.body)).not.toMatch(new RegExp(`${id}|secret`))
  }
  const own = await created('nameless', input)
  expect(await created('nameless', input)).toBe(own)
})

it('V-08 a key of a principal with a task is found by it again, and by no other', async () => {
  let principal: Principal = { scopes: ['create'] }
  const { engine, ask } = await openWorld({ authenticate: () => principal }, { autoStart: false })
  const ids: string[] = []
  for (const name of ['a', 'b']) {
    const { id } = await engine.create({ name })
    principal = { scopes: ['create'] satisfies Access[], taskId: id }
    const first = await ask('POST', '/tasks', input)
    expect(first.status).toBe(201)
    expect((await ask('POST', '/tasks', input)).body.taskId).toBe(first.body.taskId)
    ids.push(first.body.taskId as string)
  }
  expect(new Set(ids).size).toBe(2)
})

it('V-08 a key in the header Idempotency-Key belongs to the principal, too', async () => {
  const { as } = await setup()
  const headers = { 'idempotency-key': 'one' }
  const ids = []
  for (const name of ['ann', 'mallory', 'nameless']) {
    const first = await as(name)('/tasks', { name: 'x' }, headers)
    expect(first.status).toBe(201)
    expect((await as(name)('/tasks', { name: 'x' }, headers)).body.taskId).toBe(first.body.taskId)
    ids.push(first.body.taskId)
  }
  expect(new Set(ids).size).toBe(3)
})
