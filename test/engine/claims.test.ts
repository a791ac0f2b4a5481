// Work from outside: which claim gets a task, which is refused and why, and what an ended claim still allows.
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Task } from '../../src/entities/task.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { history, openEngine, puppet, reached, refusalOf, turns, typesOf } from './world.ts'

const ada = { owner: 'ada' }
const bob = { owner: 'bob' }

/** An engine without executors: a board. */
const board = () => openEngine({ work: false })

describe('a task without an executor', () => {
  it('S4-050 S4-051 C-54 a task without an executor has no owner until it is claimed: then it is WORKING, with an owner and a claim number of one', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    expect(task).toMatchObject({ status: 'submitted', owner: null, fence: 0, ready: true, leaseUntil: null })
    const claimed = await engine.claim(task, ada)
    expect(claimed).toMatchObject({ status: 'working', owner: 'ada', fence: 1, leaseUntil: null, ready: false, run: 0 })
    expect(await engine.get(task)).toEqual(claimed)
    expect((await engine.list({ owner: 'ada' })).tasks).toEqual([claimed])
  })

  it('S4-052 a task without an executor is claimed once: the second claim is refused with its status and its owner', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    const claimed = await engine.claim(task, ada)
    const refusal = await refusalOf(engine.claim(task, bob), 'NOT_CLAIMABLE')
    expect(refusal.details).toEqual({ taskId: task.id, reason: 'running', status: 'working', owner: 'ada' })
    expect(refusal.message).toContain('it is worked on by ada')
    await refusalOf(engine.claim(task, ada), 'NOT_CLAIMABLE')
    expect(await engine.get(task)).toEqual(claimed)
  })

  it('S4-053 a task without an executor is refused with the list of its open dependencies', async () => {
    const engine = await board()
    const [first, second] = await engine.create([{ name: 'first' }, { name: 'second' }])
    const last = await engine.create({ name: 'last', blockedBy: [first?.id as string, second?.id as string] })
    const refusal = await refusalOf(engine.claim(last, ada), 'BLOCKED')
    expect(refusal.details).toMatchObject({ blockedBy: [first?.id, second?.id] })
    expect(refusal.message).toContain(`${first?.id}, ${second?.id}`)
    await engine.complete(await engine.claim(first?.id as string, ada))
    expect((await refusalOf(engine.claim(last, ada), 'BLOCKED')).details).toMatchObject({ blockedBy: [second?.id] })
    await engine.complete(await engine.claim(second?.id as string, ada))
    expect((await engine.claim(last, ada)).owner).toBe('ada')
  })

  it.each([
    ['by hand', 'running', 'working', (engine: Engine, id: string) => engine.start(id), 'worked on by hand'],
    ['paused', 'held', 'paused', async (engine: Engine, id: string) => engine.pause(await engine.start(id)), 'paused'],
    [
      'completed',
      'settled',
      'completed',
      async (engine: Engine, id: string) => engine.complete(await engine.claim(id, ada)),
      'completed by ada',
    ],
    [
      'failed',
      'settled',
      'failed',
      async (engine: Engine, id: string) => engine.fail(await engine.claim(id, ada), 'no'),
      '`retry` opens it again',
    ],
    ['canceled', 'settled', 'canceled', (engine: Engine, id: string) => engine.cancel(id), 'it was canceled'],
    [
      'on a timer',
      'timer',
      'submitted',
      (engine: Engine, id: string) => engine.update(id, { notBefore: 9e12 }),
      'its `notBefore` has not passed',
    ],
    [
      'asking',
      'answer',
      'input_required',
      async (engine: Engine, id: string) => engine.update(await engine.start(id), { status: 'input_required' }),
      'input_required',
    ],
  ] as const)(
    'S4-052 a claim of a task that is %s is refused with the reason: %s',
    async (_what, reason, status, prepare, words) => {
      const engine = await board()
      const { id } = await engine.create({ name: 'write it' })
      await prepare(engine, id)
      const refusal = await refusalOf(engine.claim(id, bob), 'NOT_CLAIMABLE')
      expect(refusal.details).toMatchObject({ taskId: id, reason, status })
      expect(refusal.message).toContain(words)
      expect(await engine.claim(null, bob)).toBeNull()
    },
  )

  it('a task that has an executor or is a group cannot be claimed', async () => {
    const engine = await openEngine({ executors: { work: async () => null }, work: false })
    const run = await engine.create({ executor: 'work' })
    const group = await engine.create({ name: 'all', tasks: { one: { name: 'one' } } })
    expect((await refusalOf(engine.claim(run, ada), 'NOT_CLAIMABLE')).details).toMatchObject({ reason: 'executor' })
    const refusal = await refusalOf(engine.claim(group, ada), 'NOT_CLAIMABLE')
    expect(refusal.details).toMatchObject({ reason: 'group' })
    expect(refusal.message).toContain('claim one of its tasks')
    expect((await engine.claim(null, ada))?.name).toBe('one')
    expect((await engine.get(group))?.status).toBe('working')
    await refusalOf(engine.claim('task-unknown', ada), 'NOT_FOUND')
  })

  it('a task without an executor that was moved by hand has no owner, and any client may change its status', async () => {
    const engine = await board()
    const task = await engine.start(await engine.create({ name: 'write it' }))
    expect(task.owner).toBeNull()
    await refusalOf(engine.heartbeat(task), 'NOT_CLAIMABLE')
    await refusalOf(engine.release(task), 'NOT_CLAIMABLE')
    await refusalOf(engine.heartbeat(task.id, ada), 'NOT_CLAIMABLE')
    expect((await engine.complete(task, 1)).owner).toBeNull()
  })
})

describe('the next task to claim', () => {
  it('S4-044 S4-058 the next task to claim is the one of the highest priority, then the oldest; null without one', async () => {
    const engine = await board()
    for (const [name, priority] of [
      ['low', -1],
      ['old', 0],
      ['young', 0],
      ['high', 5],
    ] as const) {
      await engine.create({ name, priority })
    }
    const order = ['high', 'old', 'young', 'low']
    expect((await engine.list({ ready: true })).tasks.map((task) => task.name)).toEqual(order)
    const names: Array<string | undefined> = []
    for (let turn = 0; turn < 5; turn++) names.push((await engine.claim(null, ada))?.name)
    expect(names).toEqual([...order, undefined])
    expect((await engine.list({ ready: true })).tasks).toEqual([])
  })

  it('S4-044 S4-058 the next task to claim is not one with open dependencies, another owner or another role', async () => {
    const engine = await board()
    const first = await engine.create({ name: 'first', priority: 3 })
    await engine.create({ name: 'after', priority: 9, blockedBy: [first.id] })
    await engine.create({ name: 'for writers', priority: 5, role: 'writer' })
    await engine.create({ name: 'for testers', priority: 4, role: 'tester' })
    expect((await engine.claim(null, { owner: 'ada', role: 'tester' }))?.name).toBe('for testers')
    expect((await engine.claim(null, ada))?.name).toBe('first')
    expect(await engine.claim(null, ada)).toBeNull()
    await engine.complete(first.id, null, { owner: 'ada' })
    expect((await engine.claim(null, { owner: 'bob', role: 'writer' }))?.name).toBe('after')
    expect((await engine.claim(null, { owner: 'bob', role: 'writer' }))?.name).toBe('for writers')
  })

  it('the next task to claim is one below the given parent and with all the given tags', async () => {
    const engine = await board()
    const parent = await engine.create({ name: 'parent', priority: -5 })
    await engine.create({ name: 'elsewhere', priority: 9, tags: ['ui', 'small'] })
    await engine.create({ name: 'below', parentId: parent.id, tags: ['ui'] })
    await engine.create({ name: 'small one below', parentId: parent.id, tags: ['small', 'ui'] })
    const below = { owner: 'ada', parentId: parent.id }
    expect((await engine.claim(null, { ...below, tags: ['ui', 'small'] }))?.name).toBe('small one below')
    expect(await engine.claim(null, { ...below, tags: ['small'] })).toBeNull()
    expect((await engine.claim(null, below))?.name).toBe('below')
    expect(await engine.claim(null, below)).toBeNull()
  })

  it('S4-058 the next task to claim may be given by id, and must then match the claim', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it', role: 'writer', tags: ['ui'] })
    const wrong = await refusalOf(engine.claim(task, { owner: 'ada', role: 'tester' }), 'NOT_CLAIMABLE')
    expect(wrong.details).toMatchObject({ reason: 'role', status: 'submitted', owner: null })
    expect(wrong.message).toContain('for the role writer, and this claim is for tester')
    expect((await refusalOf(engine.claim(task, ada), 'NOT_CLAIMABLE')).message).toContain('names no role; pass')
    const other = await refusalOf(engine.claim(task, { owner: 'ada', role: 'writer', tags: ['api'] }), 'NOT_CLAIMABLE')
    expect(other.message).toContain('tags api')
    expect((await engine.claim(task, { owner: 'ada', role: 'writer', tags: ['ui'] })).owner).toBe('ada')
  })

  it('the next task to claim is not one before its notBefore; afterwards the next claim finds it, also without a working engine', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ work: false, clock })
    const later = await engine.create({ name: 'later', notBefore: clock.now() + 100 })
    await engine.create({ name: 'sooner', notBefore: clock.now() + 50 })
    expect(await engine.claim(null, ada)).toBeNull()
    expect((await refusalOf(engine.claim(later, ada), 'NOT_CLAIMABLE')).details).toMatchObject({ reason: 'timer' })
    clock.increment(50)
    expect((await engine.claim(null, ada))?.name).toBe('sooner')
    expect(await engine.claim(null, ada)).toBeNull()
    clock.increment(50)
    expect(await engine.claim(later, ada)).toMatchObject({ owner: 'ada', notBefore: null })
    expect(typesOf(await history(engine, later.id))).toEqual([
      'task.created',
      'timer.fired',
      'task.claimed',
      'task.started',
    ])
  })
})

describe('the owner of a task', () => {
  it('S4-055 S4-056 the owner of a task completes its task and stays its owner; other clients may not', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    await refusalOf(engine.complete(task, 'early'), 'INVALID_TRANSITION')
    await engine.claim(task, ada)
    for (const write of [
      () => engine.complete(task.id, 'mine'),
      () => engine.complete(task.id, 'mine', bob),
      () => engine.fail(task.id, 'mine', bob),
      () => engine.heartbeat(task.id, bob),
      () => engine.release(task.id, bob),
      () => engine.update(task.id, { status: 'completed' }),
      () => engine.update({ id: task.id, owner: 'bob' } as { id: string }, { status: 'failed' }),
    ]) {
      const refusal = await refusalOf(write, 'NOT_OWNER')
      expect(refusal.details).toMatchObject({ taskId: task.id, owner: 'ada' })
      expect(refusal.message).toContain('ada')
    }
    const done = await engine.complete(task.id, { words: 3 }, ada)
    expect(done).toMatchObject({ status: 'completed', owner: 'ada', result: { words: 3 } })
    await refusalOf(engine.complete(done, 'again'), 'INVALID_TRANSITION')
  })

  it('S4-055 the owner of a task fails its task with its own code and stays its owner; a retry is open to any client', async () => {
    const engine = await board()
    const task = await engine.claim(await engine.create({ name: 'write it' }), ada)
    const failed = await engine.fail(task, 'no paper', { code: 'NO_PAPER' })
    expect(failed).toMatchObject({ status: 'failed', owner: 'ada', error: { code: 'NO_PAPER', message: 'no paper' } })
    expect(await engine.retry(task.id)).toMatchObject({ status: 'submitted', owner: null, fence: 1, ready: true })
    expect(await engine.claim(null, bob)).toMatchObject({ owner: 'bob', fence: 2, attempt: 2 })
    await refusalOf(engine.complete(task, 'late'), 'STALE_CLAIM')
  })

  it('S4-057 C-54 the owner of a task releases its task: it is WAITING, released, without an owner, and may be claimed again', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    const mine = await engine.claim(task, ada)
    const free = await engine.release(mine, { reason: 'lunch' })
    expect(free).toMatchObject({ status: 'waiting', statusReason: 'released', owner: null, ready: true, fence: 1 })
    expect((await engine.why(task)).reason).toBe('claim')
    for (const write of [() => engine.heartbeat(task.id), () => engine.release(task.id)]) {
      expect((await refusalOf(write, 'NOT_CLAIMABLE')).details).toMatchObject({ reason: 'unclaimed', owner: null })
    }
    expect(await engine.claim(null, bob)).toMatchObject({ id: task.id, owner: 'bob', fence: 2, statusReason: null })
  })

  it('C-54 the owner of a task can write nothing after a release, whichever client has the task', async () => {
    const engine = await board()
    const mine = await engine.claim(await engine.create({ name: 'write it' }), ada)
    await engine.release(mine)
    const writes = [
      () => engine.complete(mine, 'late'),
      () => engine.fail(mine, 'late'),
      () => engine.heartbeat(mine),
      () => engine.release(mine),
      () => engine.complete(mine.id, 'late', { owner: 'ada', fence: mine.fence }),
    ]
    for (const write of writes) await refusalOf(write, 'STALE_CLAIM')
    const states = ['completed', 'failed', 'input_required', 'waiting'] as const
    const next = await engine.claim(mine.id, bob)
    for (const write of writes) {
      expect((await refusalOf(write, 'STALE_CLAIM')).details).toMatchObject({ owner: 'bob', fence: 2, quoted: 1 })
    }
    for (const status of states) await refusalOf(engine.update(mine, { status }), 'STALE_CLAIM')
    // The same owner again is another claim nevertheless.
    await engine.release(next)
    const again = await engine.claim(mine.id, ada)
    for (const write of writes) await refusalOf(write, 'STALE_CLAIM')
    expect(await engine.get(mine.id)).toEqual(again)
    expect((await engine.complete(again, 'mine')).result).toBe('mine')
  })

  it('the owner of a task has no special right to pause, resume and change priority or name', async () => {
    const engine = await board()
    const mine = await engine.claim(await engine.create({ name: 'write it' }), ada)
    expect(await engine.update(mine.id, { priority: 3, name: 'write it well' })).toMatchObject({ owner: 'ada' })
    expect(await engine.pause(mine.id)).toMatchObject({ status: 'paused', owner: 'ada', ready: false })
    expect(await engine.resume(mine.id)).toMatchObject({ status: 'working', owner: 'ada', fence: 1 })
    await engine.pause(mine.id)
    // Releasing a paused task leaves it paused.
    expect(await engine.release(mine)).toMatchObject({ status: 'paused', statusReason: 'released', owner: null })
    // Resuming it then finds no owner: it waits for the next claim.
    expect(await engine.resume(mine.id)).toMatchObject({ status: 'waiting', statusReason: 'released', ready: true })
    expect(await engine.claim(null, { owner: 'bob' })).toMatchObject({ id: mine.id, owner: 'bob', fence: 2 })
  })

  it('the owner of a task is the only one whose task carries the claim token: one that another client has read, or a copy, does not', async () => {
    const engine = await board()
    const mine = await engine.claim(await engine.create({ name: 'write it' }), { ...ada, leaseMs: 60_000 })
    const read = (await engine.get(mine.id)) as Task
    expect(read).toEqual(mine)
    for (const bystander of [read, { ...mine }, structuredClone(mine), (await engine.list()).tasks[0] as Task]) {
      expect((await refusalOf(engine.complete(bystander), 'NOT_OWNER')).details).toMatchObject({ owner: 'ada' })
    }
    const named = await engine.update(mine, { name: 'write it well' })
    expect((await engine.heartbeat(named)).fence).toBe(1)
    expect((await engine.complete(read, 'done', { owner: 'ada' })).result).toBe('done')
  })

  it('the owner of a task gets the refusal of a canceled task at its next write', async () => {
    const engine = await board()
    const mine = await engine.claim(await engine.create({ name: 'write it' }), ada)
    expect(await engine.cancel(mine.id, 'not needed')).toMatchObject({ status: 'canceled', owner: 'ada' })
    for (const write of [() => engine.complete(mine), () => engine.heartbeat(mine), () => engine.release(mine)]) {
      expect((await refusalOf(write, 'INVALID_TRANSITION')).details).toMatchObject({ from: 'canceled' })
    }
  })

  it('S4-045 the owner of a task unblocks the tasks that depend on its task alone, and ends waits for it, when it completes', async () => {
    const engine = await openEngine()
    const [a, b] = await engine.create([{ name: 'a' }, { name: 'b' }])
    const [one, both] = await engine.create([
      { name: 'one', blockedBy: [a?.id as string] },
      { name: 'both', blockedBy: [a?.id as string, b?.id as string] },
    ])
    await engine.complete(await engine.claim(a?.id as string, ada))
    const unblocked = (await history(engine)).filter((event) => event.type === 'task.unblocked')
    expect(unblocked.map((event) => [event.taskId, event.data['by']])).toEqual([[one?.id, a?.id]])
    expect(await engine.get(one?.id as string)).toMatchObject({ ready: true, blockedBy: [] })
    expect(await engine.get(both?.id as string)).toMatchObject({ ready: false, blockedBy: [b?.id] })
  })

  it('the owner of a task completes, with the last child, a group, and a parent with autoComplete whose own work is done', async () => {
    const engine = await board()
    const group = await engine.create({ name: 'group', tasks: { one: { name: 'one' }, two: { name: 'two' } } })
    for (const turn of [1, 2]) {
      const mine = await engine.claim(null, { owner: 'ada', parentId: group.id })
      expect((await engine.get(group))?.status, `turn ${turn}`).toBe('working')
      await engine.complete(mine as NonNullable<typeof mine>)
    }
    expect((await engine.get(group))?.status).toBe('completed')
    const parent = await engine.start(await engine.create({ name: 'parent', autoComplete: true }))
    await engine.create({ name: 'child', parentId: parent.id })
    const child = await engine.claim(null, { owner: 'ada', parentId: parent.id })
    await engine.complete(child as NonNullable<typeof child>)
    expect((await engine.get(parent))?.status).toBe('completed')
  })

  it('the owner of a task occupies no slot: with one slot in all, an executor runs beside any number of claimed tasks', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 1 })
    await engine.create([{ name: 'one' }, { name: 'two' }])
    const first = await engine.claim(null, ada)
    await engine.claim(null, bob)
    const run = await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    expect(engine.status.get().context.slots).toMatchObject({ used: 1, free: 0 })
    expect((await engine.complete(first as NonNullable<typeof first>)).status).toBe('completed')
    held.end.resolve('ran')
    expect(await engine.result(run)).toBe('ran')
  })
})

describe('the log of claims', () => {
  it('S4-059 the log of claims lists who claimed what when, in which role, by which surface, under which number, and who released it', async () => {
    const clock = new SimulatedClock()
    const engine = await openEngine({ work: false, clock })
    const task = await engine.create({ name: 'write it', role: 'writer' })
    const at = clock.now()
    const mine = await engine.claim(task, { owner: 'ada', role: 'writer', source: 'board' })
    clock.increment(5)
    await engine.release(mine, { reason: 'lunch' })
    clock.increment(5)
    await engine.complete(await engine.claim(task, { owner: 'bob', role: 'writer', leaseMs: 50 }), 'done')
    const log = (await history(engine, task.id)).filter(
      ({ type }) => type === 'task.claimed' || type === 'task.released',
    )
    expect(log.map((event) => [event.type, event.at, event.data])).toMatchObject([
      ['task.claimed', at, { owner: 'ada', role: 'writer', source: 'board', fence: 1, leaseUntil: null }],
      ['task.released', at + 5, { owner: 'ada', fence: 1, reason: 'lunch' }],
      ['task.claimed', at + 10, { owner: 'bob', role: 'writer', source: 'library', fence: 2, leaseUntil: at + 60 }],
    ])
    const [done] = (await history(engine, task.id)).filter(({ type }) => type === 'task.completed')
    expect(done?.data).toMatchObject({ by: 'bob' })
  })

  it('the log of claims has no entry for a refused claim', async () => {
    const engine = await board()
    const task = await engine.claim(await engine.create({ name: 'write it' }), ada)
    const before = await history(engine)
    await refusalOf(engine.claim(task, bob), 'NOT_CLAIMABLE')
    await refusalOf(engine.complete(task.id, null, bob), 'NOT_OWNER')
    expect(await engine.claim(null, bob)).toBeNull()
    expect(await history(engine)).toEqual(before)
  })
})

describe('concurrent claims', () => {
  it('S4-054 concurrent claims of one task have exactly one winner', async () => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    const owners = Array.from({ length: 50 }, (_, index) => `owner-${index}`)
    const claims = await Promise.allSettled(owners.map((owner) => engine.claim(task, { owner })))
    const won = claims.filter((claim) => claim.status === 'fulfilled')
    expect(won).toHaveLength(1)
    expect(await engine.get(task)).toMatchObject({ owner: won[0]?.value.owner, fence: 1 })
  })

  it('S4-054 concurrent claims of the best task each get another one, and those that come too late get none', async () => {
    const engine = await board()
    await engine.create(Array.from({ length: 30 }, (_, index) => ({ name: `task ${index}` })))
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, index) => engine.claim(null, { owner: `o${index}` })),
    )
    const ids = claims.flatMap((task) => (task === null ? [] : [task.id]))
    expect(new Set(ids).size).toBe(30)
    expect(claims.filter((task) => task === null)).toHaveLength(10)
  })

  it.each([
    ['claim', 'cancel'],
    ['cancel', 'claim'],
    ['complete', 'release'],
    ['release', 'complete'],
    ['complete', 'pause'],
    ['pause', 'complete'],
    ['complete', 'cancel'],
    ['release', 'cancel'],
    ['fail', 'complete'],
  ] as const)('X-038 %s and %s in one turn end in one legal state, and each gets its outcome', async (one, other) => {
    const engine = await board()
    const task = await engine.create({ name: 'write it' })
    const mine = one === 'claim' || other === 'claim' ? task : await engine.claim(task, ada)
    const verbs = {
      claim: () => engine.claim(task, ada),
      cancel: () => engine.cancel(mine),
      complete: () => engine.complete(mine),
      fail: () => engine.fail(mine, 'no'),
      release: () => engine.release(mine),
      pause: () => engine.pause(mine),
    }
    const [first, second] = await Promise.allSettled([verbs[one](), verbs[other]()])
    expect(first.status).toBe('fulfilled')
    const outcomes = {
      claim: 'working',
      cancel: 'canceled',
      complete: 'completed',
      fail: 'failed',
      release: 'waiting',
      pause: 'paused',
    } as const
    const last = second.status === 'fulfilled' ? other : one
    expect((await engine.get(task))?.status).toBe(outcomes[last])
    const event = (await history(engine, task.id)).at(-1)
    expect(event?.data['status']).toBe(outcomes[last])
  })
})

describe('a task that was resumed or answered and waits for a slot', () => {
  it('a task that was resumed or answered and waits for a slot is shown as queued; pausing it withdraws the resume, and a second resume is refused', async () => {
    const hands = puppet()
    const engine = await openEngine({ executors: { work: hands.executor }, maxConcurrent: 1 })
    const task = await engine.create({ executor: 'work' })
    await hands.started(0)
    expect(await engine.pause(task)).toMatchObject({ status: 'paused', ready: false })
    await reached(engine, task, (each) => each.status === 'paused')
    await engine.create({ executor: 'work' })
    const other = await hands.started(1)
    expect(await engine.resume(task)).toMatchObject({ status: 'paused', ready: true })
    expect((await engine.why(task)).reason).toBe('slot')
    await refusalOf(engine.resume(task), 'INVALID_TRANSITION')
    expect(await engine.pause(task)).toMatchObject({ status: 'paused', ready: false })
    other.end.resolve(null)
    await turns()
    expect(hands.runs).toHaveLength(2)
    await engine.resume(task)
    ;(await hands.started(2)).end.resolve('in the end')
    expect(await engine.result(task)).toBe('in the end')
  })

  it('a task that was resumed or answered and waits for a slot is shown as queued once it is answered, and a second answer is refused', async () => {
    const hands = puppet()
    const executors = {
      ask: async (_task: unknown, run: { ask(question: string): Promise<unknown> }) => run.ask('Well?'),
      work: hands.executor,
    }
    const engine = await openEngine({ executors, maxConcurrent: 1 })
    const task = await engine.create({ executor: 'ask' })
    await reached(engine, task, 'input_required')
    await engine.create({ executor: 'work' })
    const held = await hands.started(0)
    expect(await engine.answer(task, 'yes')).toMatchObject({ status: 'input_required', ready: true, questions: [] })
    expect((await refusalOf(engine.answer(task, 'no'), 'NO_QUESTION')).message).toContain(
      'has no open question any more',
    )
    held.end.resolve(null)
    expect(await engine.result(task)).toBe('yes')
  })
})
