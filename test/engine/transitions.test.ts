// The table of the engine against the table of the designs: every pair of states by update, every verb in every state,
// and that a refusal changes nothing.
import { describe, expect, it } from 'vitest'
import { ErrandError, TaskFailedError } from '../../src/core/errors.ts'
import { type Task, type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import { history, openEngine, refusalOf, typesOf, waysTo } from './world.ts'

async function taskIn(engine: Awaited<ReturnType<typeof openEngine>>, status: TaskStatus): Promise<Task> {
  let task = await engine.create({ name: `a ${status} task` })
  for (const step of waysTo[status]) {
    task =
      task.status === 'input_required' ? await engine.answer(task, 'yes') : await engine.update(task, { status: step })
  }
  expect(task.status).toBe(status)
  return task
}

type Event =
  | 'start'
  | 'pause'
  | 'ask'
  | 'wait'
  | 'complete'
  | 'fail'
  | 'cancel'
  | 'resume'
  | 'answer'
  | 'unblock'
  | 'retry'

/**
 * Where each event leads from each state; `-`: it is refused. Written down from conformance 1.2, independent of the
 * source: PAUSED is left by `resume`, INPUT_REQUIRED by an answer, WAITING when its wait is over, FAILED by `retry`
 * only.
 */
const table = `
  from           start   pause  ask            wait    complete  fail   cancel   resume  answer  unblock retry
  submitted      working -      -              -       -         -      canceled -       -       -       -
  working        -       paused input_required waiting completed failed canceled -       -       -       -
  paused         -       -      -              -       -         -      canceled working -       -       -
  input_required -       -      -              -       -         -      canceled -       working -       -
  waiting        -       -      -              -       -         -      canceled -       -       working -
  completed      -       -      -              -       -         -      -        -       -       -       -
  failed         -       -      -              -       -         -      -        -       -       -       submitted
  canceled       -       -      -              -       -         -      -        -       -       -       -
`
const [[, ...events], ...rows] = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/)) as [[string, ...Event[]], ...Array<[TaskStatus, ...Array<TaskStatus | '-'>]>]

function leadsTo(from: TaskStatus, event: Event): TaskStatus | null {
  const to = rows.find(([state]) => state === from)?.[1 + events.indexOf(event)]
  return to === undefined || to === '-' ? null : to
}

const edgeBetween = (from: TaskStatus, to: TaskStatus) => events.find((event) => leadsTo(from, event) === to)
/** Sorted: the order in a refusal is that of the source. */
const accepted = (from: TaskStatus) => {
  const known = String(events.filter((event) => leadsTo(from, event) !== null).sort())
  return expect.toSatisfy((given: string[]) => String([...given].sort()) === known, known)
}

const pairs = taskStatuses.flatMap((from) => taskStatuses.map((to) => ({ from, to })))
/** Those with a method; the others are reached by an update. */
const verbs = ['start', 'pause', 'resume', 'cancel', 'retry', 'complete', 'fail', 'answer'] as const satisfies Event[]

describe('the transition table', () => {
  it('S3-001 S3-009 the transition table has the eight states of the designs, and fifteen edges among their 64 pairs', () => {
    expect([...taskStatuses].sort()).toEqual(rows.map(([state]) => state).sort())
    expect(rows.map((row) => row.length)).toEqual(Array.from({ length: 8 }, () => 12))
    expect(pairs).toHaveLength(64)
    expect(pairs.filter(({ from, to }) => edgeBetween(from, to) !== undefined)).toHaveLength(15)
  })
})

describe('an update of the status', () => {
  it.each(pairs)(
    'S3-002…S3-011 S3-023 an update of the status from $from to $to is applied or refused as the table says',
    async ({ from, to }) => {
      const engine = await openEngine()
      const task = await taskIn(engine, from)
      const before = await history(engine, task.id)
      const edge = edgeBetween(from, to)
      if (edge === 'answer') {
        // An answer needs a value, which an update does not have: the edge exists, but not by this way.
        expect((await engine.answer(task, 'yes')).status).toBe('working')
        return
      }
      if (edge !== undefined) {
        const after = await engine.update(task, { status: to })
        expect(after.status).toBe(to)
        expect(await history(engine, task.id)).toHaveLength(before.length + 1)
        return
      }
      const refusal = await refusalOf(engine.update(task, { status: to, name: 'renamed' }), 'INVALID_TRANSITION')
      expect(refusal.details).toMatchObject({ taskId: task.id, from, to, allowed: accepted(from) })
      expect(refusal.message).toContain(from)
      expect(refusal.message).toContain(to)
      // Nothing of it was stored, including the name (S3-010, S3-026).
      expect(await engine.get(task)).toEqual(task)
      expect(await history(engine, task.id)).toEqual(before)
    },
  )
})

describe('a verb of a task', () => {
  const cells = taskStatuses.flatMap((from) => verbs.map((verb) => ({ from, verb })))

  it.each(cells)(
    'S3-009 S3-010 X-006 $verb in $from is one edge, or INVALID_TRANSITION that changes nothing',
    async ({ from, verb }) => {
      const engine = await openEngine()
      const task = await taskIn(engine, from)
      const before = await history(engine, task.id)
      const work = () =>
        verb === 'fail' || verb === 'answer'
          ? engine[verb](task, 'a word')
          : (engine[verb] as (task: Task) => Promise<Task>)(task)
      const to = leadsTo(from, verb)
      if (to !== null) {
        const after = await work()
        expect(after.status).toBe(to)
        expect((await history(engine, task.id)).at(-1)?.data).toMatchObject({ name: task.name, status: after.status })
        return
      }
      const refusal = await refusalOf(work(), 'INVALID_TRANSITION')
      expect(refusal.details).toEqual({ taskId: task.id, from, event: verb, allowed: accepted(from) })
      expect(await engine.get(task)).toEqual(task)
      expect(await history(engine, task.id)).toEqual(before)
    },
  )

  it.each(verbs)('S3-050 S3-055 %s of an unknown task is NOT_FOUND', async (verb) => {
    const engine = await openEngine()
    const work = (engine[verb] as (id: string, ...more: unknown[]) => Promise<Task>).bind(engine)
    const refusal = await refusalOf(work('task-unknown', ...(verb === 'retry' ? [] : ['a word'])), 'NOT_FOUND')
    expect(refusal.details).toEqual({ taskId: 'task-unknown' })
  })

  it('a verb of a task accepts the task itself or its id, and refuses anything else', async () => {
    const engine = await openEngine()
    const task = await engine.create({ name: 'a' })
    expect((await engine.start(task.id)).status).toBe('working')
    expect((await engine.pause(task)).status).toBe('paused')
    await refusalOf(engine.resume(7 as never), 'INVALID_INPUT')
    await refusalOf(async () => engine.get(undefined as never), 'INVALID_INPUT')
  })
})

describe('an error of the engine', () => {
  it('S3-014 an error of the engine is one class with a code, and is recognized across copies of the package', async () => {
    const engine = await openEngine()
    const notFound = await refusalOf(engine.start('task-unknown'), 'NOT_FOUND')
    const illegal = await refusalOf(engine.pause(await engine.create({ name: 'a' })), 'INVALID_TRANSITION')
    for (const error of [notFound, illegal]) {
      expect(error).toBeInstanceOf(ErrandError)
      expect(error).toBeInstanceOf(Error)
      expect(error.toJSON()).toEqual({ code: error.code, message: error.message, details: error.details })
    }
    const foreign = Object.assign(new Error('of another copy'), { [Symbol.for('errand.error')]: true, code: 'TIMEOUT' })
    expect(ErrandError.isInstance(foreign)).toBe(true)
    expect(ErrandError.isInstance(new Error('of another kind'))).toBe(false)
    expect(new TaskFailedError('task-a', { code: 'X', message: 'm' })).toBeInstanceOf(ErrandError)
  })
})

describe('a change of a task', () => {
  it('S3-018 a change of a task sets updatedAt, every time, and never createdAt', async () => {
    let now = 1_000
    const clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} }
    const engine = await openEngine({ clock, work: false })
    let task = await engine.create({ name: 'a' })
    expect(task).toMatchObject({ createdAt: 1_000, updatedAt: 1_000, completedAt: null })
    const changes = [
      () => engine.update(task, { name: 'b' }),
      () => engine.update(task, { metadata: { a: 1 } }),
      () => engine.start(task),
      () => engine.pause(task),
      () => engine.resume(task),
      () => engine.complete(task),
    ]
    for (const change of changes) {
      now += 10
      task = await change()
      expect(task).toMatchObject({ createdAt: 1_000, updatedAt: now })
    }
    expect(task.completedAt).toBe(now)
    expect(typesOf(await history(engine, task.id))).toEqual([
      'task.created',
      'task.updated',
      'task.updated',
      'task.started',
      'task.paused',
      'task.started',
      'task.completed',
    ])
  })
})
