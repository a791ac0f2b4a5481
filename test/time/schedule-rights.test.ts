// Who may put and change schedules.
import { expect, it } from 'vitest'
import { refusalOf } from '../engine/world.ts'
import { scheduleOf, scheduleWorld } from './schedule-world.ts'

const task = { executor: 'work' }

it('schedules refuse callers without the scope, and callers with a task', async () => {
  const { engine } = await scheduleWorld()
  const put = { name: 'daily', every: '1d', task } as const
  const named = { name: 'daily' }
  const scoped = { caller: { surface: 'http', scopes: ['read', 'create', 'control'] } } as const
  await refusalOf(engine.bus.call('schedules:put', put, scoped), 'FORBIDDEN')
  await engine.schedules.put(put)
  await engine.bus.call('schedules:pause', named, scoped)
  expect(await scheduleOf(engine, 'daily')).toMatchObject({ paused: true })
  const reader = { caller: { surface: 'http', scopes: ['read'] } } as const
  await engine.bus.call('schedules:list', {}, reader)
  for (const verb of ['pause', 'resume', 'trigger', 'remove'] as const) {
    await refusalOf(engine.bus.call(`schedules:${verb}`, named, reader), 'FORBIDDEN')
  }
  const { id: taskId } = await engine.create({ name: 'Own' })
  const model = { caller: { surface: 'model', taskId } } as const
  await refusalOf(engine.bus.call('schedules:put', put, model), 'FORBIDDEN')
  const run = { caller: { surface: 'run', taskId } } as const
  for (const verb of ['pause', 'resume', 'trigger', 'remove'] as const) {
    await refusalOf(engine.bus.call(`schedules:${verb}`, named, run), 'FORBIDDEN')
  }
  expect(await scheduleOf(engine, 'daily')).toMatchObject({ paused: true, last: null })
})

it('keys of schedules are reserved', async () => {
  const { engine } = await scheduleWorld()
  const given = { executor: 'work', key: 'schedule:daily:2030-01-01T00:00:00.000Z' }
  await refusalOf(engine.bus.call('task:create', given), 'INVALID_INPUT')
})
