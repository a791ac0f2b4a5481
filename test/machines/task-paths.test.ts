// The chart walked by a machine: every path that xstate/graph finds from the start is run as commands against the real engine
// on a file, with a new engine for every step, so that each edge is also taken after a restart.

import { describe, expect, it } from 'vitest'
import { getShortestPaths } from 'xstate/graph'
import { type TaskStatus, taskStatuses } from '../../src/entities/task.ts'
import { nextStatus } from '../../src/machines/task-edges.ts'
import { type TaskEventName, taskEvents, taskMachine } from '../../src/machines/task-machine.ts'
import { type HeldRun, history, ledgerFile, openEngine, puppet, reached, typesOf } from '../engine/world.ts'

interface Path {
  title: string
  steps: Array<{ event: TaskEventName; to: TaskStatus }>
}

/** The shortest way over each edge: two visits of a state differ by the edge by which it was entered. */
function paths(): Path[] {
  const found = getShortestPaths(
    taskMachine as never,
    {
      input: {},
      events: taskEvents.map((type) => ({ type })),
      filterEvents: (state: { can(event: unknown): boolean }, event: unknown) => state.can(event),
      serializeState: (state: { value: unknown }, event?: { type: string }, before?: { value: unknown }) =>
        `${String(before?.value)} -${event?.type}-> ${String(state.value)}`,
    } as never,
  )
  return found.map((path) => {
    const steps = path.steps
      .map((step) => ({ event: (step.event as { type: string }).type as TaskEventName, to: '' as TaskStatus }))
      .filter((step) => taskEvents.includes(step.event))
    let at: TaskStatus = 'submitted'
    for (const step of steps) {
      at = nextStatus(at, step.event) as TaskStatus
      step.to = at
    }
    return { title: `submitted ${steps.map((step) => `-${step.event}-> ${step.to}`).join(' ')}`, steps }
  })
}

/** A task that follows commands, on a ledger whose engine is a new one for every step. */
async function setup() {
  const ledger = ledgerFile()
  // Opened by a producer: it does not start by itself.
  const first = await openEngine({ ledger, work: false })
  const helper = await first.create({ name: 'what it waits for' })
  const task = await first.create({ executor: 'puppet', key: 'the task' })
  await first.close()
  let at: TaskStatus = 'submitted'

  async function opened(work: boolean) {
    const puppets = puppet()
    const engine = await openEngine({ ledger, work, executors: { puppet: puppets.executor } })
    return { engine, puppets }
  }

  /** The task as a new engine finds it, in its hands if it works. */
  async function inHand(): Promise<{ engine: Awaited<ReturnType<typeof opened>>['engine']; run: HeldRun | undefined }> {
    const works = at === 'working'
    const { engine, puppets } = await opened(works)
    if (!works) return { engine, run: undefined }
    const run = await puppets.started(0)
    expect((await engine.get(task))?.status).toBe('working')
    return { engine, run }
  }

  async function take(event: TaskEventName, to: TaskStatus): Promise<void> {
    const { engine, run } = await inHand()
    const before = await engine.get(task)
    expect(before?.status).toBe(at)
    switch (event) {
      case 'pause':
      case 'cancel':
      case 'resume':
      case 'retry':
        await engine[event](task)
        break
      case 'answer':
        await engine.answer(task, 'yes')
        break
      case 'complete':
        run?.end.resolve('done')
        break
      case 'fail':
        run?.end.reject(new Error('broke'))
        break
      case 'ask':
        void run?.run.ask('Go on?', null, { key: `question ${before?.updatedAt}` })
        break
      case 'wait':
        void run?.run.wait(helper, { key: `wait ${before?.updatedAt}` })
        break
      case 'unblock':
        await engine.start(helper)
        await engine.complete(helper)
        break
      case 'start':
        break
    }
    if (to === 'working') {
      await engine.close()
      const { engine: worker, puppets } = await opened(true)
      await puppets.started(0)
      expect((await worker.get(task))?.status).toBe('working')
      await worker.close()
    } else {
      await reached(engine, task, to)
      await engine.close()
    }
    at = to
  }

  /** What the ledger holds at the end. */
  async function found() {
    const { engine } = await inHand()
    return { task: await engine.get(task), events: await history(engine, task.id), engine }
  }

  return { take, found }
}

describe('the paths of the chart', () => {
  const all = paths()

  it('X-005 the paths of the chart cover the fifteen edges and end in every state', () => {
    const taken = new Set(
      all.flatMap(({ steps }) =>
        steps.map(({ event, to }, index) => `${steps[index - 1]?.to ?? 'submitted'} ${event} ${to}`),
      ),
    )
    expect(taken.size).toBe(15)
    expect(new Set(all.map(({ steps }) => steps.at(-1)?.to ?? 'submitted'))).toEqual(new Set(taskStatuses))
  })

  it.each(all)('X-005 X-011 the engine follows the path, restarted at each step: $title', async ({ steps }) => {
    const { take, found } = await setup()
    for (const { event, to } of steps) await take(event, to)
    const { task, events } = await found()
    expect(task?.status).toBe(steps.at(-1)?.to ?? 'submitted')
    // Every transition in the ledger is an edge of the table.
    let at: TaskStatus = 'submitted'
    for (const { type, data } of events) {
      const to = data.status as TaskStatus
      if (to === at) continue
      expect(data.from, `${type} in ${typesOf(events).join(', ')}`).toBe(at)
      expect(taskEvents.some((event) => nextStatus(at, event) === to)).toBe(true)
      at = to
    }
    expect(at).toBe(task?.status)
  })
})
