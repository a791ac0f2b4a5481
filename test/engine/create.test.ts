// Creation and reading: the fields and their defaults, names, keys, copies, refusals, all or nothing.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineExecutor } from '../../src/entities/executor.ts'
import { history, openEngine, refusalOf } from './world.ts'

const greet = defineExecutor({
  input: z.object({ name: z.string(), loud: z.boolean().default(false) }),
  run: (task) => (task.input.loud ? task.input.name.toUpperCase() : task.input.name),
})
const setup = () => openEngine({ executors: { greet, other: () => null }, autoStart: false })

describe('engine.create', () => {
  it('S3-015 S3-017 S3-020 engine.create returns a task with its fields and their defaults', async () => {
    const engine = await setup()
    const task = await engine.create({ name: 'write' })
    expect(task).toEqual({
      id: expect.stringMatching(/^task-[a-z0-9]+$/) as string,
      seq: expect.any(Number) as number,
      name: 'write',
      goal: null,
      description: '',
      status: 'submitted',
      ready: true,
      statusReason: null,
      priority: 0,
      parentId: null,
      executor: null,
      input: null,
      result: null,
      error: null,
      owner: null,
      fence: 0,
      leaseUntil: null,
      role: null,
      tags: [],
      group: false,
      forkedFrom: null,
      system: false,
      blockedBy: [],
      questions: [],
      progress: null,
      generation: 1,
      attempt: 1,
      run: 0,
      startedAt: null,
      notBefore: null,
      deadline: null,
      key: null,
      metadata: {},
      createdBy: 'library',
      mayRunCommands: true,
      version: 1,
      createdAt: expect.any(Number) as number,
      updatedAt: task.createdAt,
      completedAt: null,
    })
    expect(await engine.get(task.id)).toEqual(task)
  })

  it('S3-020 S3-064 engine.create stores the given fields, and publishes an event', async () => {
    const engine = await setup()
    const parent = await engine.create({ name: 'parent' })
    const task = await engine.create({
      name: 'child',
      goal: 'write it',
      description: 'long',
      executor: 'greet',
      input: { name: 'Ada' },
      priority: -3,
      parentId: parent.id,
      metadata: { tags: ['a'], deep: { b: null } },
    })
    expect(task).toMatchObject({
      name: 'child',
      goal: 'write it',
      description: 'long',
      executor: 'greet',
      input: { name: 'Ada' },
      priority: -3,
      parentId: parent.id,
      metadata: { tags: ['a'], deep: { b: null } },
    })
    expect((await history(engine, task.id))[0]).toMatchObject({
      type: 'task.created',
      taskId: task.id,
      at: task.createdAt,
      data: { name: 'child', status: 'submitted', parentId: parent.id, executor: 'greet' },
    })
  })

  it('S3-016 engine.create draws an id and a number for each task', async () => {
    const engine = await setup()
    const tasks = await engine.create(Array.from({ length: 500 }, (_, index) => ({ name: `${index}` })))
    expect(new Set(tasks.map((task) => task.id)).size).toBe(500)
    expect(tasks.map((task) => task.seq)).toEqual(tasks.map((task) => task.seq).toSorted((a, b) => a - b))
  })

  it('engine.create names a task by its executor or its goal without a name, and refuses one without all three', async () => {
    const engine = await setup()
    expect((await engine.create({ executor: 'other' })).name).toBe('other')
    expect((await engine.create({ goal: 'Buy milk\nand bread' })).name).toBe('Buy milk')
    expect((await engine.create({ name: 'mine', executor: 'other' })).name).toBe('mine')
    const refusal = await refusalOf(engine.create({ description: 'nothing else' }), 'INVALID_INPUT')
    expect(refusal.message).toContain('Add `name`')
  })

  it('engine.create checks the input against the executor and stores it as given: the run adds the defaults', async () => {
    const engine = await setup()
    const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
    expect(task.input).toEqual({ name: 'Ada' })
    const refusal = await refusalOf(engine.create({ executor: 'greet', input: { name: 7 } as never }), 'INVALID_INPUT')
    expect(refusal.details).toMatchObject({ executor: 'greet', issues: [{ path: 'name' }] })
    await refusalOf(engine.create({ executor: 'greet' } as never), 'INVALID_INPUT')
  })

  it('engine.create accepts the executor itself in place of its name', async () => {
    const engine = await setup()
    expect((await engine.create({ executor: greet, input: { name: 'Ada' } })).executor).toBe('greet')
    const outsider = defineExecutor({ run: () => null })
    const refusal = await refusalOf(engine.create({ executor: outsider }), 'UNKNOWN_EXECUTOR')
    expect(refusal.details.known).toEqual(['greet', 'other', 'agent'])
  })

  it('engine.create refuses an unknown executor with the nearest name, at create and at update', async () => {
    const engine = await setup()
    const refusal = await refusalOf(
      engine.create({ executor: 'gret' as never, input: {} as never }),
      'UNKNOWN_EXECUTOR',
    )
    expect(refusal.details).toEqual({ executor: 'gret', nearest: 'greet', known: ['greet', 'other', 'agent'] })
    expect(refusal.message).toContain('Did you mean "greet"?')
    const task = await engine.create({ executor: 'other' })
    await refusalOf(engine.update(task, { executor: 'gret' }), 'UNKNOWN_EXECUTOR')
    expect((await engine.get(task))?.executor).toBe('other')
  })

  it('S3-021 engine.create refuses an unknown or settled parent, and stores nothing', async () => {
    const engine = await setup()
    await refusalOf(engine.create({ name: 'a', parentId: 'task-unknown' }), 'NOT_FOUND')
    const parent = await engine.create({ name: 'parent' })
    await engine.cancel(parent)
    const refusal = await refusalOf(engine.create({ name: 'a', parentId: parent.id }), 'PARENT_CLOSED')
    expect(refusal.details).toEqual({ parentId: parent.id, status: 'canceled' })
    expect((await engine.list()).total).toBe(1)
  })

  it('engine.create creates an array or a tree completely, or not at all', async () => {
    const engine = await setup()
    await refusalOf(engine.create([{ name: 'a' }, { name: 'b', parentId: 'task-unknown' }]), 'NOT_FOUND')
    await refusalOf(
      engine.create({ name: 'g', tasks: { a: { name: 'a' }, b: { blockedBy: ['task-unknown'] } } }),
      'NOT_FOUND',
    )
    expect((await engine.list()).total).toBe(0)
    expect(await history(engine)).toEqual([])
    expect(await engine.create([])).toEqual([])
  })
})

describe('a returned task', () => {
  it('S3-019 a returned task is a copy: changing it changes nothing, and defaults are not shared', async () => {
    const engine = await setup()
    const metadata = { list: [1] }
    const task = await engine.create({ name: 'a', metadata })
    const other = await engine.create({ name: 'b' })
    metadata.list.push(2)
    task.metadata.more = true
    ;(task.metadata.list as number[]).push(3)
    task.blockedBy.push('task-x')
    other.metadata.mine = true
    expect((await engine.get(task))?.metadata).toEqual({ list: [1] })
    expect((await engine.create({ name: 'c' })).metadata).toEqual({})
    const listed = (await engine.list()).tasks[0]
    if (listed) listed.name = 'changed'
    expect((await engine.list()).tasks[0]?.name).toBe('a')
  })

  it('S3-022 a returned task is null for an unknown or deleted task', async () => {
    const engine = await setup()
    expect(await engine.get('task-unknown')).toBeNull()
    const task = await engine.create({ name: 'a' })
    expect(await engine.get(task)).toEqual(task)
    await engine.delete(task)
    expect(await engine.get(task)).toBeNull()
  })
})

describe('engine.find', () => {
  it('engine.find finds a task by id, by #seq, and by a unique prefix', async () => {
    let next = 0
    const ids = {
      next: (prefix: string) => `${prefix}-${['abc1', 'abd2', 'xyz3', 'run4'][next++ % 4]}${Math.floor(next / 5)}`,
      random: () => 0,
    }
    const engine = await openEngine({ ids, work: false })
    const [, second] = await engine.create([{ name: 'a' }, { name: 'b' }])
    const third = await engine.create({ name: 'c' })
    expect((await engine.find(third.id))?.id).toBe(third.id)
    expect((await engine.find(`#${second?.seq}`))?.id).toBe(second?.id)
    expect((await engine.find(third.id.slice(5, 7)))?.id).toBe(third.id)
    expect(await engine.find('task-zz')).toBeNull()
    expect(await engine.find('#99')).toBeNull()
    expect(await engine.find("'; drop table task; --")).toBeNull()
    await engine.delete(third)
    expect(await engine.find(third.id)).toBeNull()
    expect(await engine.find(`#${third.seq}`)).toBeNull()
  })

  it('engine.find refuses an ambiguous prefix, and lists the matches', async () => {
    let next = 0
    const engine = await openEngine({
      ids: { next: (prefix) => `${prefix}-ab${next++}`, random: () => 0 },
      work: false,
    })
    const tasks = await engine.create([{ name: 'a' }, { name: 'b' }])
    const refusal = await refusalOf(engine.find('ab'), 'INVALID_INPUT')
    expect(refusal.details).toEqual({ ref: 'ab', candidates: tasks.map((task) => task.id) })
  })
})

describe('the key of a task', () => {
  it('the key of a task returns the first task again, whatever its status, and creates nothing', async () => {
    const engine = await setup()
    const first = await engine.create({ key: 'k', executor: 'greet', input: { name: 'Ada' } })
    await engine.cancel(first)
    const again = await engine.create({ key: 'k', executor: 'greet', input: { name: 'Ada' }, priority: 9 })
    expect(again).toMatchObject({ id: first.id, status: 'canceled', priority: 0, key: 'k' })
    expect((await engine.list()).total).toBe(1)
  })

  it('conflicts with another input, executor, goal or shape', async () => {
    const engine = await setup()
    const first = await engine.create({ key: 'k', name: 'a', input: { x: 1, y: 2 } })
    expect((await engine.create({ key: 'k', name: 'b', input: { y: 2, x: 1 } })).id).toBe(first.id)
    for (const other of [
      { key: 'k', name: 'a', input: { x: 2 } },
      { key: 'k', name: 'a', input: { x: 1, y: 2 }, goal: 'another' },
      { key: 'k', name: 'a', input: { x: 1, y: 2 }, tasks: { b: { name: 'b' } } },
    ]) {
      expect((await refusalOf(engine.create(other), 'KEY_CONFLICT')).details).toEqual({ key: 'k', taskId: first.id })
    }
    await engine.delete(first)
    await refusalOf(engine.create({ key: 'k', name: 'a', input: { x: 1, y: 2 } }), 'KEY_CONFLICT')
  })

  it('the key of a task holds for two concurrent creations, and twice in one array', async () => {
    const engine = await setup()
    const [one, two] = await Promise.all([
      engine.create({ key: 'k', name: 'a' }),
      engine.create({ key: 'k', name: 'a' }),
    ])
    expect(two.id).toBe(one.id)
    const [three, four] = await engine.create([
      { key: 'l', name: 'a' },
      { key: 'l', name: 'a' },
    ])
    expect(four?.id).toBe(three?.id)
    await refusalOf(
      engine.create([
        { key: 'm', name: 'a', input: 1 },
        { key: 'm', name: 'a', input: 2 },
      ]),
      'KEY_CONFLICT',
    )
    expect((await engine.list()).total).toBe(2)
  })

  it('the key of a task finds the whole tree by the key of its root', async () => {
    const engine = await setup()
    const plan = {
      key: 'tree',
      tasks: { a: { executor: 'other' }, b: { executor: 'other', after: 'a' } },
      name: 'plan',
    }
    const first = await engine.create(plan)
    expect((await engine.create(plan)).id).toBe(first.id)
    expect((await engine.list()).total).toBe(3)
    const taken = { name: 'elsewhere', tasks: { a: { key: 'tree', name: 'a' } } }
    await refusalOf(engine.create(taken), 'KEY_CONFLICT')
  })
})
