// Exo's TaskManager over the real engine: states, tasks, families and errors, by hand and without a scheduler.
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as exo from '../../src/compat/exo.ts'
import {
  InvalidTransitionError,
  type Task,
  TaskError,
  TaskManager,
  TaskNotFoundError,
  TaskStatus,
} from '../../src/compat/exo.ts'
import { ErrandError } from '../../src/core/errors.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { ledgerFile, openEngine, turns } from '../engine/world.ts'
import { createIn, namesOf, openExo } from './exo-world.ts'

const legal: Record<TaskStatus, TaskStatus[]> = {
  submitted: ['working', 'canceled'],
  working: ['paused', 'input_required', 'completed', 'failed', 'canceled', 'waiting'],
  paused: ['working', 'canceled'],
  input_required: ['working', 'canceled'],
  waiting: ['working', 'canceled'],
  completed: [],
  canceled: [],
  failed: ['submitted'],
}
const all = Object.values(TaskStatus)

describe('the entry', () => {
  it('S3-107 errand/exo exports the names of the task controller without those of intents', () => {
    expect(Object.keys(exo)).toEqual(
      expect.arrayContaining(['TaskStatus', 'TaskManager', 'TaskScheduler', 'TaskEventBus', 'TaskError']),
    )
    expectTypeOf<exo.Task['status']>().toEqualTypeOf<TaskStatus>()
    expectTypeOf<exo.TaskEvent['timestamp']>().toEqualTypeOf<number>()
  })

  it('S3-001 TaskStatus has eight states, as an object and as a type', () => {
    expect(TaskStatus).toEqual({
      SUBMITTED: 'submitted',
      WORKING: 'working',
      PAUSED: 'paused',
      INPUT_REQUIRED: 'input_required',
      COMPLETED: 'completed',
      CANCELED: 'canceled',
      FAILED: 'failed',
      WAITING: 'waiting',
    })
    expectTypeOf<'input_required'>().toExtend<TaskStatus>()
  })
})

describe('a status', () => {
  it('S3-002 S3-003 S3-004 S3-005 S3-006 S3-007 S3-008 S3-009 S3-010 S3-011 update takes the fifteen legal edges only, and a refusal names both states and changes nothing', async () => {
    const { manager, events } = openExo()
    let refused = 0
    for (const from of all) {
      for (const to of all) {
        const task = await createIn(manager, from, `${from} to ${to}`)
        if (legal[from].includes(to)) {
          expect((await manager.update(task.id, { status: to })).status).toBe(to)
          continue
        }
        const error = await manager.update(task.id, { status: to }).catch((thrown: unknown) => thrown)
        expect(error, `${from} to ${to}`).toBeInstanceOf(InvalidTransitionError)
        expect((error as Error).message).toContain(from)
        expect((error as Error).message).toContain(to)
        expect(await manager.get(task.id)).toEqual(task)
        refused++
      }
    }
    expect(refused).toBe(49)
    await manager.close()
    const moves = events.filter((event) => event.event_type !== 'task.created' && typeof event.data.from === 'string')
    for (const { data } of moves) {
      expect(legal[data.from as TaskStatus]).toContain(data.status)
    }
  })

  it('S3-026 an update with an illegal status also refuses the other fields', async () => {
    const { manager } = openExo()
    const task = await createIn(manager, 'paused')
    await expect(manager.update(task.id, { status: 'completed', name: 'other', priority: 9 })).rejects.toThrow(
      InvalidTransitionError,
    )
    expect(await manager.get(task.id)).toEqual(task)
    expect(await manager.update(task.id, { status: 'working', name: 'other' })).toMatchObject({
      status: 'working',
      name: 'other',
    })
  })
})

describe('a refusal', () => {
  it("S3-014 a refusal is a TaskError with the code and the engine's error as cause", async () => {
    const { manager } = openExo()
    const task = await manager.create('a')
    const unknown = await manager.update('task-none', { name: 'b' }).catch((error: unknown) => error)
    expect(unknown).toBeInstanceOf(TaskNotFoundError)
    expect(unknown).toBeInstanceOf(TaskError)
    expect(unknown).toMatchObject({ name: 'TaskNotFoundError', code: 'NOT_FOUND' })
    const illegal = await manager.update(task.id, { status: 'completed' }).catch((error: unknown) => error)
    expect(illegal).toBeInstanceOf(InvalidTransitionError)
    expect(illegal).toBeInstanceOf(TaskError)
    expect(illegal).toMatchObject({ name: 'InvalidTransitionError', code: 'INVALID_TRANSITION' })
    for (const error of [unknown, illegal] as TaskError[]) {
      expect(ErrandError.isInstance(error)).toBe(true)
      expect(ErrandError.isInstance(error.cause)).toBe(true)
      expect((error.cause as ErrandError).code).toBe(error.code)
    }
    const input = await manager.create('').catch((error: unknown) => error)
    expect(input).toMatchObject({ name: 'TaskError', code: 'INVALID_INPUT' })
  })

  it('invalid options are refused with the nearest name', async () => {
    expect(() => new TaskManager({ legder: 'x' } as never)).toThrow(/Did you mean "ledger"/)
    expect(() => new TaskManager({ eventBus: {} as never })).toThrow(TaskError)
    const engine = await openEngine()
    expect(() => new TaskManager({ engine, ledger: 'x' })).toThrow(TaskError)
    const { manager } = openExo()
    await expect(manager.create('a', { prioritty: 1 } as never)).rejects.toThrow(/Did you mean "priority"/)
    await expect(manager.create('a', { priority: 1.5 })).rejects.toThrow(TaskError)
    await expect(manager.update('a', { executor: 'x' } as never)).rejects.toThrow(TaskError)
    await expect(manager.list({ status: 'done' as never })).rejects.toThrow(TaskError)
  })
})

describe('a task', () => {
  it("S3-015 S3-016 S3-020 create gives a task Exo's defaults and a unique id", async () => {
    const { manager, received } = openExo()
    const task = await manager.create('a')
    expect(task).toEqual({
      id: expect.stringMatching(/^task-[a-z0-9]+$/) as string,
      name: 'a',
      description: '',
      status: 'submitted',
      priority: 0,
      parentId: null,
      metadata: {},
      createdAt: expect.any(Date) as Date,
      updatedAt: expect.any(Date) as Date,
      result: null,
      error: null,
      statusReason: null,
      attempt: 1,
      prompt: null,
    } satisfies Task)
    const child = await manager.create('b', {
      description: 'more',
      priority: 7,
      parentId: task.id,
      metadata: { agent: 'writer' },
    })
    expect(child).toMatchObject({ description: 'more', priority: 7, parentId: task.id, metadata: { agent: 'writer' } })
    expect(child.id).not.toBe(task.id)
    expect((await received('task.created', child)).data).toMatchObject({ name: 'b', status: 'submitted' })
  })

  it('S3-021 create below an unknown parent stores nothing', async () => {
    const { manager } = openExo()
    await expect(manager.create('a', { parentId: 'task-none' })).rejects.toThrow(TaskNotFoundError)
    expect(await manager.list()).toEqual([])
  })

  it('S3-022 get returns null for an unknown id', async () => {
    const { manager } = openExo()
    const task = await manager.create('a')
    expect(await manager.get(task.id)).toEqual(task)
    expect(await manager.get('task-none')).toBeNull()
  })

  it('S3-018 S3-023 S3-024 update changes fields, replaces metadata, and sets the time of change', async () => {
    const { manager } = openExo()
    const task = await manager.create('a', { metadata: { one: 1 } })
    await turns(1)
    const changed = await manager.update(task.id, {
      name: 'b',
      description: 'c',
      priority: -2,
      metadata: { two: { deep: [2] } },
    })
    expect(changed).toMatchObject({ name: 'b', description: 'c', priority: -2, metadata: { two: { deep: [2] } } })
    expect(changed.metadata).not.toHaveProperty('one')
    expect(changed.updatedAt.getTime()).toBeGreaterThanOrEqual(task.updatedAt.getTime())
    expect(changed.createdAt).toEqual(task.createdAt)
    expect((await manager.update(task.id, { name: 'd' })).metadata).toEqual({ two: { deep: [2] } })
    await expect(manager.update('task-none', { name: 'x' })).rejects.toThrow(TaskNotFoundError)
  })

  it('S3-019 a returned task is a copy whose changes affect no other', async () => {
    const { manager } = openExo()
    const given = { tags: ['x'] }
    const task = await manager.create('a', { metadata: given })
    const other = await manager.create('b')
    given.tags.push('y')
    ;(task.metadata['tags'] as string[]).push('z')
    other.metadata['mine'] = true
    expect((await manager.get(task.id))?.metadata).toEqual({ tags: ['x'] })
    expect((await manager.get(other.id))?.metadata).toEqual({})
    expect((await manager.create('c')).metadata).toEqual({})
  })

  it('S3-027 S3-028 delete removes a task once, and its children become roots', async () => {
    const { manager } = openExo()
    const parent = await createIn(manager, 'working', 'parent')
    const child = await manager.create('child', { parentId: parent.id })
    expect(await manager.delete(parent.id)).toBe(true)
    expect(await manager.delete(parent.id)).toBe(false)
    expect(await manager.delete('task-none')).toBe(false)
    expect(await manager.get(parent.id)).toBeNull()
    expect((await manager.get(child.id))?.parentId).toBeNull()
    await expect(manager.update(parent.id, { name: 'x' })).rejects.toThrow(TaskNotFoundError)
    await expect(manager.getChildren(parent.id)).rejects.toThrow(TaskNotFoundError)
  })

  it('S3-059 requireInput and provideInput work on a task by hand', async () => {
    const { manager, received } = openExo()
    const task = await manager.create('a', { metadata: { mine: 1 } })
    await expect(manager.requireInput(task.id, 'Which one?')).rejects.toThrow(InvalidTransitionError)
    await manager.update(task.id, { status: 'working' })
    expect(await manager.requireInput(task.id, 'Which one?')).toMatchObject({
      status: 'input_required',
      prompt: 'Which one?',
      metadata: { mine: 1 },
    })
    expect(await manager.update(task.id, { metadata: { mine: 2 } })).toMatchObject({
      prompt: 'Which one?',
      metadata: { mine: 2 },
    })
    const answered = await manager.provideInput(task.id, { choice: 'the first' })
    expect(answered).toMatchObject({ status: 'working', prompt: null })
    expect(answered.metadata).toEqual({ mine: 2 })
    expect((await received('task.answered', task)).data).toMatchObject({ answer: { choice: 'the first' } })
    await expect(manager.provideInput(task.id, 1)).rejects.toThrow(InvalidTransitionError)
    await expect(manager.provideInput('task-none', 1)).rejects.toThrow(TaskNotFoundError)
    await expect(manager.requireInput('task-none', 'x')).rejects.toThrow(TaskNotFoundError)
  })
})

describe('a list', () => {
  it('S3-017 S3-029 S3-030 list sorts by priority, then age, also with equal times, and filters by status', async () => {
    const { manager } = openExo()
    expect(await manager.list()).toEqual([])
    for (const [name, priority] of [
      ['d', 0],
      ['a', 9],
      ['e', 0],
      ['b', 9],
      ['f', -1],
      ['c', 5],
    ] as const)
      await manager.create(name, { priority })
    const tasks = await manager.list()
    expect(namesOf(tasks)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    for (const name of ['b', 'e']) {
      await manager.update((tasks.find((task) => task.name === name) as Task).id, { status: 'working' })
    }
    expect(namesOf(await manager.list({ status: TaskStatus.WORKING }))).toEqual(['b', 'e'])
    expect(namesOf(await manager.list({ status: 'submitted' }))).toEqual(['a', 'c', 'd', 'f'])
    expect(await manager.list({ status: 'failed' })).toEqual([])
  })

  it('S3-029 S3-033 list returns all tasks, however many pages of the engine they take', async () => {
    const { manager } = openExo()
    const parent = await manager.create('parent', { priority: 1 })
    await Promise.all(Array.from({ length: 2_345 }, (_, index) => manager.create(`${index}`, { parentId: parent.id })))
    const tasks = await manager.list()
    expect(tasks.length).toBe(2_346)
    expect(new Set(tasks.map((task) => task.id)).size).toBe(2_346)
    expect(tasks[0]?.name).toBe('parent')
    expect((await manager.getChildren(parent.id)).length).toBe(2_345)
  })

  it('S3-031 S3-032 getChildren returns direct children and getSubtree all descendants, both sorted', async () => {
    const { manager } = openExo()
    const root = await manager.create('root', { priority: 100 })
    const low = await manager.create('low', { parentId: root.id, priority: 1 })
    const high = await manager.create('high', { parentId: root.id, priority: 8 })
    await manager.create('below low', { parentId: low.id, priority: 9 })
    await manager.create('below high', { parentId: high.id, priority: 1 })
    await manager.create('apart')
    expect(namesOf(await manager.getChildren(root.id))).toEqual(['high', 'low'])
    expect(namesOf(await manager.getSubtree(root.id))).toEqual(['below low', 'high', 'low', 'below high'])
    expect(await manager.getSubtree((await manager.getChildren(low.id))[0]?.id as string)).toEqual([])
    await expect(manager.getChildren('task-none')).rejects.toThrow(TaskNotFoundError)
    await expect(manager.getSubtree('task-none')).rejects.toThrow(TaskNotFoundError)
  })

  it('S3-033 getSubtree and cancel of a deep family end', async () => {
    const { manager } = openExo()
    const root = await manager.create('root')
    let parentId = root.id
    for (let level = 0; level < 1_000; level++) parentId = (await manager.create(`${level}`, { parentId })).id
    expect((await manager.getSubtree(root.id)).length).toBe(1_000)
    await manager.update(root.id, { status: 'canceled' })
    expect((await manager.get(parentId))?.status).toBe('canceled')
  })
})

describe('a family', () => {
  it('S3-074 S3-079 S3-080 S3-081 S3-082 S3-093 cancel ends the live descendants of a task at any depth, each with an event, and keeps settled ones', async () => {
    const { manager, events } = openExo()
    const root = await manager.create('root')
    const parent = await manager.create('parent', { parentId: root.id })
    const below = async (name: string, parentId: string, ...way: TaskStatus[]) => {
      const task = await manager.create(name, { parentId })
      for (const status of way) await manager.update(task.id, { status })
      return task
    }
    const done = await below('done', parent.id)
    const broken = await below('broken', parent.id)
    await below('under done', done.id, 'working')
    await below('under broken', broken.id)
    for (const status of ['working', 'completed'] as const) await manager.update(done.id, { status })
    for (const status of ['working', 'failed'] as const) await manager.update(broken.id, { status })
    await below('paused', parent.id, 'working', 'paused')
    await manager.update(parent.id, { status: 'canceled' })
    const now = Object.fromEntries((await manager.getSubtree(root.id)).map((task) => [task.name, task.status]))
    expect(now).toEqual({
      parent: 'canceled',
      done: 'completed',
      broken: 'failed',
      'under done': 'canceled',
      'under broken': 'canceled',
      paused: 'canceled',
    })
    expect((await manager.get(root.id))?.status).toBe('submitted')
    await manager.close()
    const canceled = events.filter((event) => event.event_type === 'task.canceled')
    expect(canceled.map((event) => String(event.data.name)).toSorted()).toEqual([
      'parent',
      'paused',
      'under broken',
      'under done',
    ])
  })

  it('S3-074 S3-084 S3-085 S3-086 with autoComplete the last child completes its ancestors up to the root, each with an event', async () => {
    const { manager, eventsOf, received } = openExo({ autoComplete: true })
    const root = await createIn(manager, 'working', 'root')
    const parent = await manager.create('parent', { parentId: root.id })
    await manager.update(parent.id, { status: 'working' })
    const children = [
      await manager.create('one', { parentId: parent.id }),
      await manager.create('two', { parentId: parent.id }),
    ]
    for (const child of children) {
      expect((await manager.get(parent.id))?.status).toBe('working')
      await manager.update(child.id, { status: 'working' })
      await manager.update(child.id, { status: 'completed' })
    }
    expect((await manager.get(root.id))?.status).toBe('completed')
    await received('task.completed', root)
    expect(eventsOf().filter((line) => line.startsWith('task.completed'))).toEqual([
      'task.completed one',
      'task.completed two',
      'task.completed parent',
      'task.completed root',
    ])
  })

  it('S3-085 S3-088 S3-089 S3-091 by default parents do not complete, nor without children or with a failed child', async () => {
    const off = openExo()
    const parent = await createIn(off.manager, 'working', 'parent')
    const child = await off.manager.create('child', { parentId: parent.id })
    for (const status of ['working', 'completed'] as const) await off.manager.update(child.id, { status })
    expect((await off.manager.get(parent.id))?.status).toBe('working')

    const on = openExo({ autoComplete: true })
    expect((await createIn(on.manager, 'working', 'alone')).status).toBe('working')
    const head = await createIn(on.manager, 'working', 'head')
    for (const end of ['failed', 'completed'] as const) {
      const next = await on.manager.create(end, { parentId: head.id })
      await on.manager.update(next.id, { status: 'working' })
      await on.manager.update(next.id, { status: end })
    }
    expect((await on.manager.get(head.id))?.status).toBe('working')
  })

  it('S3-087 S3-090 autoComplete waits for a child added late and for a parent that had not begun', async () => {
    const { manager } = openExo({ autoComplete: true })
    const parent = await manager.create('parent')
    const first = await manager.create('first', { parentId: parent.id })
    for (const status of ['working', 'completed'] as const) await manager.update(first.id, { status })
    expect((await manager.get(parent.id))?.status).toBe('submitted')
    const late = await manager.create('late', { parentId: parent.id })
    await manager.update(parent.id, { status: 'working' })
    expect((await manager.get(parent.id))?.status).toBe('working')
    for (const status of ['working', 'completed'] as const) await manager.update(late.id, { status })
    expect((await manager.get(parent.id))?.status).toBe('completed')
  })

  it('S3-092 the head of a family can be failed by hand', async () => {
    const { manager } = openExo()
    const parent = await createIn(manager, 'working', 'parent')
    const child = await manager.create('child', { parentId: parent.id })
    for (const status of ['working', 'failed'] as const) await manager.update(child.id, { status })
    expect((await manager.update(parent.id, { status: 'failed' })).status).toBe('failed')
  })
})

describe('a manager', () => {
  it('S3-078 S3-108 a manager works without a bus and can be closed before its first use', async () => {
    await using manager = new TaskManager()
    const task = await manager.create('a')
    await manager.update(task.id, { status: 'canceled' })
    expect((await manager.get(task.id))?.status).toBe('canceled')
    const unused = new TaskManager()
    await unused.close()
    await expect(unused.create('a')).rejects.toMatchObject({ name: 'TaskError', code: 'ENGINE_CLOSED' })
  })

  it('S3-108 a new manager finds its tasks in the same ledger, and open questions stay open', async () => {
    const ledger = ledgerFile()
    let id: string
    {
      await using manager = new TaskManager({ ledger })
      const task = await createIn(manager, 'working')
      id = (await manager.requireInput(task.id, 'Go on?')).id
    }
    await using manager = new TaskManager({ ledger })
    expect(await manager.get(id)).toMatchObject({ status: 'input_required', prompt: 'Go on?' })
  })

  it('S3-108 closing a manager leaves a given engine open and stops forwarding its events', async () => {
    const engine = await createEngine()
    const { manager, events, received } = openExo({ engine })
    const task = await manager.create('a')
    await received('task.created', task)
    await manager.close()
    await engine.create({ name: 'b' })
    await engine.close()
    expect(events.map((event) => event.data.name)).toEqual(['a'])
  })
})
