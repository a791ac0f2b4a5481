// The history of a task from its events: its state at each position, its path through the states, and that both agree with the engine.

import { expect, it } from 'vitest'
import { noteOf, pathTaken, snapshotAfter, upTo } from '../../page/src/model/history.ts'
import { acceptedEvents, actions, possibleActions, taskStatuses } from '../../page/src/model/lifecycle.ts'
import type { TaskEvent } from '../../page/src/model/wire.ts'
import { createEngine, Failure } from '../../src/index.ts'
import { taskEdges } from '../../src/machines/task-table.ts'
import { eventOf } from './page-fixtures.ts'

/** An engine with a task that has asked, was answered, failed once, and completed in its second attempt. */
async function livedTask() {
  let attempts = 0
  const engine = await createEngine({
    executors: {
      work: async (_task: unknown, run) => {
        await run.progress(0.5, 'half')
        await run.ask('Go on?')
        attempts++
        if (attempts === 1) throw new Failure('not yet', { code: 'NOT_YET' })
        return 'done'
      },
    },
  })
  const task = await engine.create({ executor: 'work', retry: { maxAttempts: 2 } })
  for await (const event of engine.events({ taskId: task.id })) {
    if (event.type === 'question.asked') await engine.answer(task.id, 'yes')
    if (event.type === 'task.completed') break
  }
  const events: TaskEvent[] = []
  for await (const event of engine.events({ taskId: task.id, follow: false })) events.push(event)
  return { engine, task, events }
}

it('the events of a task, folded to the end, give the task as the engine returns it', async () => {
  const { engine, task, events } = await livedTask()
  const now = await engine.get(task.id)
  expect(snapshotAfter(events)).toMatchObject({
    name: now?.name,
    status: now?.status,
    attempt: now?.attempt,
  })
  await engine.close()
})

it('the events of a task, folded to any position, give the state in the event at that position', async () => {
  const { engine, events } = await livedTask()
  for (const event of events) {
    expect(snapshotAfter(upTo(events, event.seq))?.status).toBe(event.data['status'])
  }
  expect(snapshotAfter(upTo(events, 0))).toBeUndefined()
  await engine.close()
})

it('pathTaken follows only edges of the state machine, numbered in order', async () => {
  const { engine, events } = await livedTask()
  const path = pathTaken(events)
  expect(path.map(({ n }) => n)).toEqual(path.map((_, index) => index + 1))
  for (const { from, event, to } of path) expect(event && taskEdges[from][event]).toBe(to)
  expect(path.map(({ to }) => to)).toEqual(
    expect.arrayContaining(['working', 'input_required', 'failed', 'submitted', 'completed']),
  )
  await engine.close()
})

it('snapshotAfter keeps an error until a retry removes it', () => {
  const events = [
    eventOf({ seq: 1, type: 'task.created', taskId: 'a', data: { name: 'a', status: 'submitted' } }),
    eventOf({
      seq: 2,
      type: 'task.failed',
      taskId: 'a',
      data: { status: 'failed', error: { code: 'X', message: 'x' } },
    }),
    eventOf({ seq: 3, type: 'task.retried', taskId: 'a', data: { status: 'submitted', attempt: 2 } }),
  ]
  expect(snapshotAfter(upTo(events, 2))?.error?.code).toBe('X')
  expect(snapshotAfter(events)).toMatchObject({ error: null, attempt: 2, name: 'a' })
})

it('noteOf returns one short line for any event', () => {
  const long = eventOf({ seq: 1, type: 'question.asked', taskId: 'a', data: { question: 'x'.repeat(5_000) } })
  expect(noteOf(long).length).toBeLessThan(200)
  expect(noteOf(eventOf({ seq: 1, type: 'question.asked', taskId: 'a', data: { question: { not: 'text' } } }))).toBe('')
})

it('a state accepts the actions of the transition table, and messages and priorities while the task is open', () => {
  for (const status of taskStatuses) {
    const byTable = actions.filter((action) => acceptedEvents(status).some((event) => event === action))
    const open = !['completed', 'failed', 'canceled'].includes(status)
    expect(new Set(possibleActions(status))).toEqual(new Set([...byTable, ...(open ? ['send', 'priority'] : [])]))
  }
})
