// Schedules over HTTP: each route, from putting a schedule to removing it.
import { expect, it } from 'vitest'
import { routes } from '../../../src/surfaces/http/routes.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { openWorld, problemIn } from './world.ts'

const begin = Date.UTC(2030, 0, 1)
const hour = 3_600_000

async function hourly() {
  const clock = new SimulatedClock(begin)
  const world = await openWorld({}, { clock, executors: { work: async () => 'done' } })
  const asked = new Set<string>()
  const ask = (method: string, path: string, body?: unknown) => {
    asked.add(`${method} ${path.replace(/\/hourly\b/, '/{name}').replace(/\?.*/, '')}`)
    return world.ask(method, path, body)
  }
  const put = await ask('POST', '/schedules', { name: 'hourly', cron: '0 * * * *', task: { executor: 'work' } })
  return { ...world, ask, asked, clock, put }
}

it('a client puts, lists, pauses, resumes, triggers, backfills and removes a schedule by the routes', async () => {
  const { ask, asked, clock, put } = await hourly()
  expect(put).toMatchObject({ status: 200, body: { schedule: { name: 'hourly', next: [begin + hour, {}, {}] } } })
  await clock.advance('1h')
  const { body: listed } = await ask('GET', '/schedules?limit=1')
  expect(listed).toMatchObject({
    schedules: [{ last: { outcome: 'created', tick: begin + hour }, latest: { status: 'completed' } }],
    next: 'hourly',
  })
  expect((await ask('GET', '/schedules?after=hourly')).body).toEqual({ schedules: [], next: null })
  const paused = await ask('POST', '/schedules/hourly/pause', {})
  expect(paused).toMatchObject({ status: 200, body: { schedule: { paused: true, next: [] } } })
  const triggered = await ask('POST', '/schedules/hourly/trigger', {})
  expect(triggered).toMatchObject({ status: 200, body: { outcome: 'created', taskId: expect.any(String) as string } })
  const resumed = await ask('POST', '/schedules/hourly/resume', {})
  expect(resumed).toMatchObject({
    status: 200,
    body: { schedule: { paused: false, next: [begin + 2 * hour, {}, {}] } },
  })
  const backfilled = await ask('POST', '/schedules/hourly/backfill', { from: begin - hour, to: begin + hour })
  expect(backfilled.body).toEqual({ ticks: 3, created: 2 })
  expect((await ask('DELETE', '/schedules/hourly')).body).toEqual({ removed: true })
  expect((await ask('DELETE', '/schedules/hourly')).body).toEqual({ removed: false })
  const all = routes.filter(({ tag }) => tag === 'Schedules').map(({ method, path }) => `${method} ${path}`)
  expect([...asked].sort()).toEqual([...all].sort())
})

it('a schedule that does not exist is 404 over HTTP, and one that cannot be is 400', async () => {
  const { ask, put } = await hourly()
  expect(put.status).toBe(200)
  for (const verb of ['pause', 'resume', 'trigger']) {
    expect(problemIn(await ask('POST', `/schedules/daily/${verb}`, {}))).toMatchObject({ status: 404 })
  }
  const never = { name: 'never', cron: '0 0 31 2 *', task: { executor: 'work' } }
  expect(problemIn(await ask('POST', '/schedules', never))).toMatchObject({ status: 400, code: 'INVALID_INPUT' })
})
