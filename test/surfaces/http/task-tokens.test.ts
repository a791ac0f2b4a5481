// Tokens for one task: what their bearer reaches, until when, and that no other text passes for one.
import { expect, it } from 'vitest'
import { createEngine } from '../../../src/index.ts'
import { createHttp } from '../../../src/surfaces/http/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { ask, openWorld, requestOf } from './world.ts'

const none = { authorization: '' }

/** A world with one tree of two tasks and another task. */
async function setup() {
  const clock = new SimulatedClock()
  const world = await openWorld({ clock, heartbeatMs: '1h', stallMs: '1h' })
  const { engine } = world
  const task = await engine.create({ name: 'mine' })
  const child = await engine.create({ name: 'below', parentId: task.id })
  const other = await engine.create({ name: 'other' })
  return { ...world, clock, task, child, other }
}

it('a token for a task reads that task and what is below it, as a bearer token and in the query', async () => {
  const { http, task, child } = await setup()
  const token = http.token(task)
  for (const id of [task.id, child.id]) {
    for (const path of [`/tasks/${id}`, `/tasks/${id}/why`, `/tasks/${id}/messages`, `/events/list?taskId=${id}`]) {
      expect((await ask(http, 'GET', path, undefined, { authorization: `Bearer ${token}` })).status, path).toBe(200)
      const query = `${path}${path.includes('?') ? '&' : '?'}access_token=${token}`
      expect((await ask(http, 'GET', query, undefined, none)).status, query).toBe(200)
    }
  }
  const { body } = await ask(http, 'GET', `/tasks?access_token=${token}`, undefined, none)
  expect(body.tasks.map(({ name }: { name: string }) => name)).toEqual(['below'])
})

it('a token for a task reaches no other task, and changes nothing unless it has the scope', async () => {
  const { http, engine, task, other } = await setup()
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const reading = http.token(task.id)
  for (const [method, path, body] of [
    ['GET', `/tasks/${other.id}`],
    ['GET', `/tasks/${other.id}/messages`],
    ['GET', `/events/list?taskId=${other.id}`],
    ['GET', '/events/list'],
    ['GET', '/metrics'],
    ['POST', '/abilities/mem:facts', {}],
    ['POST', '/abilities/mem:branches', {}],
    ['POST', `/tasks/${task.id}/cancel`, {}],
    ['POST', '/tasks', { name: 'new' }],
  ] as const) {
    expect((await ask(http, method, path, body, as(reading))).status, `${method} ${path}`).toBe(403)
  }
  const controlling = http.token(task, { scopes: ['read', 'control'] })
  expect((await ask(http, 'POST', `/tasks/${other.id}/cancel`, {}, as(controlling))).status).toBe(403)
  // In the query, which pages of other sites can send, it only reads.
  expect((await ask(http, 'POST', `/tasks/${task.id}/cancel?access_token=${controlling}`, {}, none)).status).toBe(401)
  expect((await engine.get(task))?.status).toBe('submitted')
  expect((await ask(http, 'POST', `/tasks/${task.id}/cancel`, {}, as(controlling))).status).toBe(200)
  expect((await engine.get(other))?.status).toBe('submitted')
  expect(() => http.token(task, { scopes: ['admin' as never] })).toThrow(/scopes/)
})

it('a token for a task expires, and ends the streams that were opened with it', async () => {
  const { http, clock, task } = await setup()
  const token = http.token(task, { expiresInMs: '10m' })
  const headers = { authorization: `Bearer ${token}` }
  const response = await http.fetch(requestOf('GET', `/tasks/${task.id}/stream`, undefined, headers))
  expect(response.status).toBe(200)
  const received = response.text()
  clock.increment(599_999)
  expect((await ask(http, 'GET', `/tasks/${task.id}`, undefined, headers)).status).toBe(200)
  clock.increment(1)
  expect(await received).not.toContain('event: end')
  expect((await ask(http, 'GET', `/tasks/${task.id}`, undefined, headers)).status).toBe(401)
  expect((await ask(http, 'GET', `/tasks/${task.id}?access_token=${token}`, undefined, none)).status).toBe(401)
  expect(() => http.token(task, { expiresInMs: '8d' })).toThrow(/expiresInMs/)
})

it('a token that was changed, or signed with another secret, is refused', async () => {
  const { http, engine, task, other } = await setup()
  const token = http.token(task)
  const [text = '', signature = ''] = token.split('.')
  const content = Buffer.from(text.slice('errand_task_'.length), 'base64url').toString()
  const forged = (changed: string) => `errand_task_${Buffer.from(changed).toString('base64url')}`
  const elsewhere = createHttp(engine, { token: false })
  const texts = [
    `${forged(content.replace(task.id, other.id))}.${signature}`,
    `${forged(content.replace('"read"', '"control"'))}.${signature}`,
    `${text}.`,
    text,
    `${token}.`,
    `${token}x`,
    token.slice(0, -1),
    `${text}.${signature.toLowerCase()}`,
    elsewhere.token(task),
    'errand_task_',
    'errand_task_.',
  ]
  for (const each of texts) {
    const reply = await ask(http, 'GET', `/tasks/${task.id}`, undefined, { authorization: `Bearer ${each}` })
    expect([401, 429], each).toContain(reply.status)
  }
})

it('handlers with the same secret accept tokens of each other, but not across tenants', async () => {
  await using engine = await createEngine({ work: false })
  const task = await engine.create({ name: 'mine' })
  const tokenSecret = 'a-secret-that-signs-the-tokens-of-tasks'
  const authenticate = () => null
  const [one, two] = [
    createHttp(engine, { authenticate, tokenSecret }),
    createHttp(engine, { authenticate, tokenSecret }),
  ]
  const read = (http: Parameters<typeof ask>[0], token: string) =>
    ask(http, 'GET', `/tasks/${task.id}`, undefined, { authorization: `Bearer ${token}` })
  expect((await read(two, one.token(task))).status).toBe(200)
  const engineFor = (tenant: string) => (tenant === 'acme' ? engine : null)
  const tenants = createHttp({ engineFor }, { authenticate, tokenSecret })
  expect((await read(tenants, tenants.token(task, { tenant: 'acme' }))).status).toBe(200)
  expect((await read(tenants, tenants.token(task, { tenant: 'other' }))).status).toBe(403)
  expect((await read(tenants, one.token(task))).status).toBe(401)
  expect((await read(one, tenants.token(task, { tenant: 'acme' }))).status).toBe(401)
  expect(() => tenants.token(task)).toThrow(/tenant/)
  expect(() => one.token(task, { tenant: 'acme' })).toThrow(/tenant/)
})
