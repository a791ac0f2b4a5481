// Webhooks: events of the engine that are posted to other services, against a real receiver and the library of Standard Webhooks.
import { expect, it } from 'vitest'
import type { EngineOptions } from '../../src/engine/engine-api.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { ledgerFile, openEngine, reached, refusalOf } from '../engine/world.ts'
import { violationsIn } from '../ledger/check/violations-in.ts'
import { receiver, secret } from './receiver.ts'

const executors = {
  done: () => 'done',
  broken: () => {
    throw new Error('broken')
  },
}

it('posts the end of tasks, signed, with what the event says and its order', async () => {
  const hook = await receiver()
  const ledger = ledgerFile()
  const engine = await openEngine({ ledger, executors, webhooks: [{ url: hook.url, secret }] })
  const done = await engine.create({ executor: 'done', name: 'one' })
  const broken = await engine.create({ executor: 'broken', retry: { maxAttempts: 2 } })
  const canceled = await engine.create({ name: 'by hand' })
  await engine.cancel(canceled, 'not needed')
  await hook.until(() => hook.accepted.length === 3)
  await engine.idle({ system: true })
  const byType = Object.fromEntries(hook.accepted.map((each) => [each.type, each]))
  expect(byType['task.completed']).toMatchObject({ data: { taskId: done.id, name: 'one', status: 'completed' } })
  expect(byType['task.failed']).toMatchObject({ data: { taskId: broken.id, error: { message: 'broken' } } })
  expect(byType['task.canceled']?.data.taskId).toBe(canceled.id)
  expect(new Date(byType['task.completed']?.timestamp as string).getTime()).toBeGreaterThan(0)
  expect(new Set(hook.accepted.map(({ data }) => data.seq)).size).toBe(3)
  await engine.close()
  expect(await violationsIn(ledger)).toEqual([])
})

it('deliveries are system tasks: they are left out of lists and idle, and are not posted themselves', async () => {
  const hook = await receiver()
  const engine = await openEngine({
    executors,
    webhooks: [{ url: hook.url, secret, events: ['task.created', 'task.started', 'task.completed'] }],
  })
  await engine.result(await engine.create({ executor: 'done' }))
  await hook.until(() => hook.accepted.length === 3)
  await engine.idle({ system: true })
  expect((await engine.list()).total).toBe(1)
  const deliveries = (await engine.list({ system: true })).tasks
  expect(deliveries.map(({ name, status }) => [name, status])).toEqual([
    [`task.created to ${hook.url}`, 'completed'],
    [`task.started to ${hook.url}`, 'completed'],
    [`task.completed to ${hook.url}`, 'completed'],
  ])
  expect(hook.tries).toHaveLength(3)
})

it('a task that a caller creates for the executor of deliveries posts nothing, as its event would bear the signature of the engine', async () => {
  const hook = await receiver()
  const engine = await openEngine({ executors, webhooks: [{ url: hook.url, secret, events: ['task.completed'] }] })
  const event = { seq: 1, type: 'task.completed', at: 1, taskId: 'task-1', data: { isForged: true } }
  const input = { webhook: hook.url, event }
  const forged = await engine.create({ executor: 'webhook', input } as never)
  const handled = await engine.create({ executor: 'broken', onFailure: { executor: 'webhook', input } })
  expect(await engine.settled(forged)).toMatchObject({ error: { code: 'FORBIDDEN' } })
  await engine.settled(handled)
  await engine.idle({ system: true })
  expect(hook.tries).toEqual([])
})

it('a delivery that an engine without its webhook has taken is tried again, so that an engine that has it posts the event', async () => {
  const [clock, ledger] = [new SimulatedClock(), ledgerFile()]
  const hook = await receiver((tries) => (tries === 1 ? 500 : 204), clock)
  const shared = { ledger, executors, clock }
  const first = await openEngine({ ...shared, webhooks: [{ url: hook.url, secret }] })
  await first.create({ executor: 'done' })
  await hook.until(() => hook.tries.length === 1)
  await first.close()
  const other = await openEngine({ ...shared, webhooks: [{ url: 'https://example.org/other', secret }] })
  await clock.advance('10s')
  const [delivery] = (await other.list({ system: true })).tasks
  expect(delivery).toMatchObject({ status: 'submitted', attempt: 3 })
  await other.close()
  const again = await openEngine({ ...shared, webhooks: [{ url: hook.url, secret }] })
  await clock.advance('1m')
  await again.idle({ system: true })
  expect(hook.accepted).toHaveLength(1)
})

it('deliveries begin by themselves, also in an engine whose tasks wait for `start`', async () => {
  const hook = await receiver()
  const engine = await openEngine({ autoStart: false, executors, webhooks: [{ url: hook.url, secret }] })
  await engine.start(await engine.create({ executor: 'done' }))
  await hook.until(() => hook.accepted.length === 1)
})

it('a receiver that fails two thirds of the time gets every event, also when engines die; the id of a repetition is the same', async () => {
  const clock = new SimulatedClock()
  const hook = await receiver((tries) => (tries % 3 === 0 ? 200 : 503), clock)
  const ledger = ledgerFile()
  const options: EngineOptions = { ledger, executors, clock, webhooks: [{ url: hook.url, secret }] }
  const ids: string[] = []
  for (const round of [1, 2, 3]) {
    const engine = await openEngine(options)
    for (let each = 0; each < 4; each++) ids.push((await engine.create({ executor: 'done', name: `${round}` })).id)
    await clock.advance('1m')
    await engine.close()
  }
  const engine = await openEngine(options)
  await clock.advance('2d')
  await engine.idle({ system: true })
  expect(hook.accepted.map(({ data }) => data.taskId).toSorted()).toEqual(ids.toSorted())
  const idOf = new Map(hook.accepted.map((each) => [each.data.seq, each.id]))
  expect(new Set(hook.tries.map(({ id }) => id))).toEqual(new Set(idOf.values()))
  expect((await engine.list({ system: true })).tasks.every(({ status }) => status === 'completed')).toBe(true)
})

it('a dead receiver is tried for three days and no longer, and its deliveries raise nothing', async () => {
  const clock = new SimulatedClock()
  const hook = await receiver(() => 500, clock)
  const engine = await openEngine({
    executors,
    clock,
    onFailure: { executor: 'done' },
    webhooks: [{ url: hook.url, secret }],
  })
  const task = await engine.create({ executor: 'done' })
  await clock.advance('71h')
  const [open] = (await engine.list({ system: true })).tasks
  expect(open?.status).not.toBe('failed')
  const before = hook.tries.length
  expect(before).toBeGreaterThan(15)
  expect(before).toBeLessThan(40)
  await clock.advance('2h')
  expect((await engine.get(open?.id as string))?.status).toBe('failed')
  const settled = hook.tries.length
  await clock.advance('10d')
  expect(hook.tries).toHaveLength(settled)
  expect((await engine.list({ system: 'include' })).tasks.map(({ id }) => id)).toEqual([task.id, open?.id])
})

it('410 ends a delivery, a redirect is not followed, and Retry-After is waited for', async () => {
  const other = await receiver()
  const clock = new SimulatedClock()
  const hook = await receiver(
    (tries) =>
      (
        [
          { status: 302, headers: { location: other.url } },
          { status: 429, headers: { 'retry-after': '3600' } },
          { status: 410, headers: {} },
        ] as Array<{ status: number; headers: Record<string, string> }>
      )[tries - 1] ?? 204,
    clock,
  )
  const engine = await openEngine({ executors, clock, webhooks: [{ url: hook.url, secret }] })
  await engine.create({ executor: 'done' })
  await clock.advance('1m')
  expect(hook.tries).toHaveLength(2)
  await clock.advance('50m')
  expect(hook.tries).toHaveLength(2)
  await clock.advance('10m')
  const [delivery] = (await engine.list({ system: true })).tasks
  expect(delivery).toMatchObject({ status: 'failed', error: { code: 'WEBHOOK_REFUSED' } })
  expect(other.tries).toEqual([])
})

it('a receiver that asks to be left alone for years is tried again after six hours', async () => {
  const clock = new SimulatedClock()
  const busy = { status: 503, headers: { 'retry-after': '99999999999' } }
  const hook = await receiver((tries) => (tries === 1 ? busy : 204), clock)
  const engine = await openEngine({ executors, clock, webhooks: [{ url: hook.url, secret }] })
  await engine.create({ executor: 'done' })
  await hook.until(() => hook.tries.length === 1)
  await clock.advance('7h')
  await engine.idle({ system: true })
  expect(hook.accepted).toHaveLength(1)
})

it('names and addresses of private networks are refused, unless they are allowed', async () => {
  const hook = await receiver()
  const { port } = new URL(hook.url)
  const engine = await openEngine({
    executors,
    webhooks: [
      { url: `https://10.1.2.3:${port}/`, secret, name: 'address' },
      { url: `https://[::ffff:10.1.2.3]:${port}/`, secret, name: 'mapped' },
    ],
  })
  await engine.create({ executor: 'done' })
  await engine.idle({ system: true })
  const deliveries = (await engine.list({ system: true })).tasks
  expect(deliveries.map(({ status, error }) => [status, error?.code])).toEqual([
    ['failed', 'FORBIDDEN'],
    ['failed', 'FORBIDDEN'],
  ])
})

it('an engine refuses webhooks that are not https, weak secrets, unknown events, and two of one name', async () => {
  const refused = async (...webhooks: object[]) =>
    (await refusalOf(() => openEngine({ webhooks: webhooks as never }), 'INVALID_INPUT')).message
  const url = 'https://example.org/hook'
  expect(await refused({ url: 'http://example.org/hook', secret })).toContain('https')
  expect(await refused({ url: 'ftp://127.0.0.1/', secret })).toContain('https')
  expect(await refused({ url: 'https://ann:pw@example.org/', secret })).toContain('credentials')
  expect(await refused({ url, secret: 'whsec_c2hvcnQ=' })).toContain('24 to 64 random bytes')
  expect(await refused({ url, secret, events: ['call.started'] })).toContain('events')
  expect(await refused({ url, secret }, { url: `${url}?a=1`, secret })).toContain('same name')
  expect(
    (
      await refusalOf(
        () => openEngine({ webhooks: [{ url, secret }], executors: { webhook: () => 1 } }),
        'INVALID_INPUT',
      )
    ).message,
  ).toContain('another name')
})

it('two secrets sign both, so that a receiver with either verifies', async () => {
  const hook = await receiver()
  const old = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
  const engine = await openEngine({ executors, webhooks: [{ url: hook.url, secret: [old, secret] }] })
  await engine.create({ executor: 'done' })
  await hook.until(() => hook.accepted.length === 1)
  expect(String(hook.tries[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2)
})

it('the input of a delivery cannot be changed: the engine would sign what a caller has written', async () => {
  const hook = await receiver(() => 503)
  const engine = await openEngine({ executors, webhooks: [{ url: hook.url, secret }] })
  await engine.create({ executor: 'done' })
  await hook.until(() => hook.tries.length === 1)
  const [delivery] = (await engine.list({ system: true })).tasks
  await reached(engine, delivery?.id as string, 'submitted')
  const input = { webhook: hook.url, event: { seq: 1, type: 'task.failed', at: 0, taskId: 'x', data: {} } }
  const refusal = await refusalOf(() => engine.update(delivery?.id as string, { input }), 'FORBIDDEN')
  expect(refusal.message).toContain('system task')
  await engine.cancel(delivery?.id as string)
})
