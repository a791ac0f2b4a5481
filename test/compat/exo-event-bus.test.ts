// Exo's TaskEventBus: which handlers are called, in which order, with which errors; and the events of a manager.
import { describe, expect, it, vi } from 'vitest'
import { TaskError, type TaskEvent, TaskEventBus, TaskManager } from '../../src/compat/exo.ts'
import { openExo } from './exo-world.ts'

const event = (eventType = 'task.created', id = 'task-1'): TaskEvent => ({
  event_type: eventType,
  task_id: id,
  data: { name: 'a', status: 'submitted' },
  timestamp: 1,
})

describe('a bus', () => {
  it('S3-068 S3-069 S3-071 emit calls the handlers of a type in the order of subscription, awaiting each', async () => {
    const bus = new TaskEventBus()
    const received: string[] = []
    bus.subscribe('task.created', async ({ task_id }) => {
      received.push(`first ${task_id}`)
      await new Promise(setImmediate)
      received.push(`first done`)
    })
    bus.subscribe('task.failed', () => received.push('of another type'))
    bus.subscribe('*', ({ event_type }) => received.push(`any ${event_type}`))
    bus.subscribe('task.created', () => received.push('last'))
    await bus.emit(event())
    expect(received).toEqual(['first task-1', 'first done', 'any task.created', 'last'])
    await bus.emit(event('my.own'))
    expect(received.slice(4)).toEqual(['any my.own'])
  })

  it('S3-070 unsubscribe of an unknown handler and emit without subscribers do nothing', async () => {
    const bus = new TaskEventBus()
    bus.unsubscribe('task.created', () => {})
    await bus.emit(event())
    const received: string[] = []
    const handler = () => received.push('received')
    bus.subscribe('task.created', handler)
    bus.unsubscribe('task.failed', handler)
    await bus.emit(event())
    bus.unsubscribe('task.created', handler)
    await bus.emit(event())
    expect(received).toEqual(['received'])
  })

  it('S3-072 emit reports a handler that throws and calls the others', async () => {
    const reported: unknown[] = []
    const bus = new TaskEventBus({
      onError: (error, { task_id }) => reported.push([(error as Error).message, task_id]),
    })
    const received: string[] = []
    bus.subscribe('*', () => {
      throw new Error('at once')
    })
    bus.subscribe('*', () => Promise.reject(new Error('later')))
    bus.subscribe('*', () => received.push('after them'))
    await bus.emit(event())
    expect(reported).toEqual([
      ['at once', 'task-1'],
      ['later', 'task-1'],
    ])
    expect(received).toEqual(['after them'])
  })

  it('S3-072 errors of handlers are logged on the console without onError, or if that throws', async () => {
    const eventsOf = vi.spyOn(console, 'error').mockImplementation(() => {})
    try {
      for (const options of [
        {},
        {
          onError: () => {
            throw new Error('no better')
          },
        },
      ]) {
        const bus = new TaskEventBus(options)
        bus.subscribe('*', () => {
          throw new Error('broke')
        })
        await bus.emit(event())
      }
      expect(eventsOf.mock.calls.map(([, error]) => String(error).split('\n')[0])).toEqual([
        'Error: broke',
        'Error: no better',
        'Error: broke',
      ])
    } finally {
      eventsOf.mockRestore()
    }
  })

  it('S3-076 a handler subscribed several times is called as often, and each unsubscribe removes one', async () => {
    const bus = new TaskEventBus()
    let received = 0
    const handler = () => received++
    bus.subscribe('task.created', handler)
    bus.subscribe('task.created', handler)
    await bus.emit(event())
    expect(received).toBe(2)
    bus.unsubscribe('task.created', handler)
    await bus.emit(event())
    expect(received).toBe(3)
  })

  it('S3-076 emit does not call a handler unsubscribed meanwhile, and a new one only from the next event on', async () => {
    const bus = new TaskEventBus()
    const received: string[] = []
    const removed = () => received.push('removed')
    const late = () => received.push('late')
    bus.subscribe('*', () => {
      received.push('first')
      bus.unsubscribe('*', removed)
      if (received.length === 1) bus.subscribe('*', late)
    })
    bus.subscribe('*', removed)
    await bus.emit(event())
    expect(received).toEqual(['first'])
    await bus.emit(event())
    expect(received).toEqual(['first', 'first', 'late'])
  })

  it('S3-063 emit gives each handler a copy and refuses invalid events', async () => {
    const bus = new TaskEventBus()
    const seen: TaskEvent[] = []
    bus.subscribe('*', (each) => {
      seen.push(each)
      each.data['name'] = 'changed'
    })
    bus.subscribe('*', (each) => seen.push(each))
    await bus.emit(event())
    expect(seen[1]).toEqual(event())
    await expect(bus.emit({ event_type: 'x' } as never)).rejects.toThrow(TaskError)
    await expect(bus.emit(event('*'))).rejects.toThrow(TaskError)
    expect(() => bus.subscribe('x', null as never)).toThrow(TaskError)
    expect(() => new TaskEventBus({ onErorr: () => {} } as never)).toThrow(/onError/)
  })
})

describe('a manager with a bus', () => {
  it('S3-063 S3-064 S3-065 S3-066 S3-067 S3-073 a manager emits the events of a task in order, with name, status and time', async () => {
    const { manager, events } = openExo()
    const task = await manager.create('a')
    for (const status of ['working', 'paused', 'working', 'completed'] as const) {
      await manager.update(task.id, { status })
    }
    const failing = await manager.create('b')
    for (const status of ['working', 'failed'] as const) await manager.update(failing.id, { status })
    const canceled = await manager.create('c')
    await manager.update(canceled.id, { status: 'canceled' })
    await manager.close()
    for (const each of events) {
      expect(each).toEqual({
        event_type: expect.stringMatching(/^task\./) as string,
        task_id: expect.stringMatching(/^task-/) as string,
        data: expect.objectContaining({
          name: expect.any(String) as string,
          status: expect.any(String) as string,
        }) as object,
        timestamp: expect.any(Number) as number,
      })
    }
    expect(events.map(({ event_type, data }) => [event_type, data['name'], data['status']])).toEqual([
      ['task.created', 'a', 'submitted'],
      ['task.started', 'a', 'working'],
      ['task.paused', 'a', 'paused'],
      ['task.started', 'a', 'working'],
      ['task.completed', 'a', 'completed'],
      ['task.created', 'b', 'submitted'],
      ['task.started', 'b', 'working'],
      ['task.failed', 'b', 'failed'],
      ['task.created', 'c', 'submitted'],
      ['task.canceled', 'c', 'canceled'],
    ])
  })

  it('S3-065 S3-075 a manager also emits input, waiting, answers, retries and deletions, and the previous status of a start', async () => {
    const { manager, events } = openExo()
    const task = await manager.create('a')
    await manager.update(task.id, { status: 'working' })
    await manager.requireInput(task.id, 'Go on?')
    await manager.provideInput(task.id, 'yes')
    for (const status of ['waiting', 'working', 'failed', 'submitted'] as const) {
      await manager.update(task.id, { status })
    }
    await manager.delete(task.id)
    await manager.close()
    expect(events.map(({ event_type }) => event_type)).toEqual(
      expect.arrayContaining(['task.input_required', 'task.answered', 'task.waiting', 'task.retried', 'task.deleted']),
    )
    const starts = events.filter(({ event_type }) => event_type === 'task.started')
    expect(starts.map(({ data }) => data['from'])).toEqual(['submitted', 'input_required', 'waiting'])
  })

  it('S3-072 S3-077 a manager emits only durable events, and a handler that throws affects neither the change nor others', async () => {
    const reported: unknown[] = []
    const eventBus = new TaskEventBus({ onError: (error) => reported.push((error as Error).message) })
    eventBus.subscribe('*', () => {
      throw new Error('broke')
    })
    const stored: unknown[] = []
    eventBus.subscribe('*', async ({ task_id }) => stored.push((await manager.get(task_id))?.status))
    const { manager, received } = openExo({ eventBus })
    const task = await manager.create('a')
    await received('task.created', task)
    expect((await manager.update(task.id, { status: 'working' })).status).toBe('working')
    await received('task.started', task)
    expect(reported).toEqual(['broke', 'broke'])
    expect(stored).toEqual([expect.any(String), 'working'])
  })

  it('S3-070 S3-078 a manager with a bus without subscribers works', async () => {
    await using manager = new TaskManager({ eventBus: new TaskEventBus() })
    const task = await manager.create('a')
    expect((await manager.update(task.id, { status: 'working' })).status).toBe('working')
  })
})
