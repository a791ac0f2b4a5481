// MCP with the program's own authentication: tenants share nothing, an agent has the name in its credentials, and no client uses more of
// the server than its share.
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineAbility } from '../../../src/bus/ability.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import {
  type McpFetchOptions,
  mcpFetchHandler,
  type Principal,
  type ServedEngine,
  serveMcpHttp,
  type TenantEngines,
} from '../../../src/surfaces/mcp/index.ts'
import { SimulatedClock } from '../../../src/testing/index.ts'
import { openEngine, refusalOf } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { connectHttp, eras, modernRequest, post, replyOf, requestOf, token } from './world.ts'

const authenticate = ({ headers }: Request) => JSON.parse(headers.get('x-principal') ?? 'null') as Principal | null
const bearing = (principal: unknown) => ({ 'x-principal': JSON.stringify(principal) })
const ann: Principal = { tenant: 'acme', scopes: ['admin'], owner: 'ann' }
/** A principal of another tenant with the same name. */
const otherAnn: Principal = { ...ann, tenant: 'globex' }
const listTools = modernRequest('tools/list')

async function openTenants({ engineFor, ...options }: Partial<McpFetchOptions & TenantEngines<ServedEngine>> = {}) {
  const engines = new Map<string, Engine>()
  for (const tenant of ['acme', 'globex']) engines.set(tenant, await openEngine())
  const asked: string[] = []
  const errors: unknown[] = []
  const engineOf = (tenant: string) => {
    asked.push(tenant)
    return engineFor === undefined ? engines.get(tenant) : engineFor(tenant)
  }
  const handler = mcpFetchHandler(
    { engineFor: engineOf },
    { authenticate, abilities: allTools, onError: (error) => errors.push(error), ...options },
  )
  onTestFinished(() => handler.close())
  const call = async (principal: unknown, name: string, input: object = {}, headers: Record<string, string> = {}) => {
    const request = modernRequest('tools/call', { name, arguments: input })
    return post(handler, request, { ...bearing(principal), ...headers })
  }
  /** The result of a tool. */
  const resultOf = async (principal: unknown, name: string, input: object = {}) =>
    (await call(principal, name, input)).result?.['structuredContent'] as any
  return { engines, handler, asked, errors, call, resultOf }
}

it('V-08 MCP tenants see their own tasks and boards, and none of a principal of the same name in another tenant', async () => {
  const { engines, call, resultOf } = await openTenants()
  const { taskId } = await resultOf(ann, 'task_create', { goal: 'the merger' })
  await resultOf(ann, 'board_create', { subject: 'sign it' })
  const { task } = await resultOf(ann, 'board_claim_next')
  expect(task).toMatchObject({ subject: 'sign it', owner: 'ann' })
  expect(await resultOf(otherAnn, 'task_list')).toMatchObject({ tasks: [], total: 0 })
  expect(await resultOf(otherAnn, 'board_list')).toMatchObject({ tasks: [] })
  for (const [name, input] of [
    ['task_get', { taskId }],
    ['task_cancel', { taskId, reason: 'no' }],
    ['board_complete', { id: task.id }],
  ] as const) {
    const { result, text } = await call(otherAnn, name, input)
    expect([name, result?.['isError'], text.includes('merger')]).toEqual([name, true, false])
  }
  expect((await engines.get('globex')?.list())?.total).toBe(0)
  // The session of ann in the first tenant still has its claim.
  expect(await resultOf(ann, 'board_complete', { id: task.id })).toMatchObject({ task: { status: 'completed' } })
})

it('V-08 MCP tenants are notified of changed tools of their own engine', async () => {
  const { engines, handler } = await openTenants({ abilities: ['notes:*'] })
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const response = await handler(requestOf(listen, bearing(ann)))
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  const until = async (word: string) => {
    while (!received.includes(word)) received += (await reader.read()).value ?? ''
  }
  await until('acknowledged')
  engines.get('globex')?.bus.register(ability('notes:theirs'))
  const names = async (principal: Principal) =>
    (await post(handler, listTools, bearing(principal))).result?.['tools'].map(({ name }: { name: string }) => name)
  expect(await names(otherAnn)).toEqual(['notes_theirs'])
  expect(await names(ann)).toEqual([])
  expect(received).not.toContain('list_changed')
  engines.get('acme')?.bus.register(ability('notes:ours'))
  await until('list_changed')
  expect(await names(ann)).toEqual(['notes_ours'])
  await reader.cancel()
})

it('V-08 MCP tenants are required with engineFor and refused for a single engine', async () => {
  const { handler, asked, errors } = await openTenants()
  const { tenant: _tenant, ...without } = ann
  for (const principal of [without, { ...ann, tenant: '../globex' }, { ...ann, tenant: '' }]) {
    const { status, text } = await post(handler, listTools, bearing(principal))
    expect([status, text.includes('tenant')]).toEqual([500, false])
  }
  expect([asked, errors.length]).toEqual([[], 3])
  expect((await post(handler, listTools)).status).toBe(401)
  const single = mcpFetchHandler(await openEngine(), { authenticate, abilities: allTools })
  onTestFinished(() => single.close())
  expect((await post(single, listTools, bearing(ann))).status).toBe(500)
  expect((await post(single, listTools, bearing(without))).status).toBe(200)
})

it('MCP tenants that are not served are refused, and internal errors are not sent to clients', async () => {
  const { handler, errors } = await openTenants()
  expect((await post(handler, listTools, bearing({ ...ann, tenant: 'initech' }))).status).toBe(403)
  expect(errors).toEqual([])
  const broken = await openTenants({ engineFor: () => Promise.reject(new Error('no /srv/acme.db')) })
  const { status, text } = await post(broken.handler, listTools, bearing(ann))
  expect([status, text.includes('srv')]).toEqual([500, false])
  expect(broken.errors).toMatchObject([{ cause: expect.any(Error) as Error }])
})

it('MCP tenants are served by a new engine once the program has opened one, and not by a closed one', async () => {
  const { engines, resultOf } = await openTenants()
  await resultOf(ann, 'board_create', { subject: 'a' })
  await engines.get('acme')?.close()
  engines.set('acme', await openEngine())
  expect(await resultOf(ann, 'board_list')).toMatchObject({ tasks: [] })
})

it('MCP tenants require authenticate: a token is refused', async () => {
  const engineFor = () => null
  expect(() => mcpFetchHandler({ engineFor }, { token })).toThrow(/`token` does not/)
  await expect(serveMcpHttp({ engineFor }, { token: false })).rejects.toThrow(/`token` does not/)
  await refusalOf((async () => mcpFetchHandler(await openEngine(), { token, authenticate }))(), 'INVALID_INPUT')
})

it.each(eras)('V-08 MCP tenants are served by one server to clients of the %s era', async (era) => {
  const engines = new Map([
    ['acme', await openEngine()],
    ['globex', await openEngine()],
  ])
  await engines.get('acme')?.create({ name: 'the merger' })
  const server = await serveMcpHttp(
    { engineFor: (tenant) => engines.get(tenant) },
    { authenticate, abilities: allTools },
  )
  onTestFinished(() => server.close())
  const totals = [ann, otherAnn].map(async (principal) => {
    const client = await connectHttp(era, server.url, { authorization: '', ...bearing(principal) })
    return (await client.call('task_list')).structuredContent?.['total']
  })
  expect(await Promise.all(totals)).toEqual([1, 0])
})

it('an MCP agent whose credentials contain a name acts in that name, and is refused another one', async () => {
  const { call, resultOf } = await openTenants()
  await resultOf(ann, 'board_create', { subject: 'a' })
  expect((await call(ann, 'board_claim_next', {}, { 'x-errand-agent': 'bob' })).status).toBe(403)
  expect(await resultOf(ann, 'board_claim_next', { as: 'bob' })).toMatchObject({ task: { owner: 'ann' } })
  expect((await call(ann, 'board_list', {}, { 'x-errand-agent': 'ann' })).status).toBe(200)
})

it('an MCP agent whose credentials contain a name may do what its scopes and abilities allow within what the server offers', async () => {
  const { handler, call } = await openTenants()
  const names = async (principal: Principal) =>
    (await post(handler, listTools, bearing(principal))).result?.['tools'].map(({ name }: { name: string }) => name)
  const reader: Principal = { ...ann, scopes: ['read'] }
  expect(await names(reader)).toContain('task_get')
  expect(await names(reader)).not.toContain('task_create')
  expect((await call(reader, 'task_create', { goal: 'x' })).error).toMatchObject({
    message: expect.stringContaining('not found') as string,
  })
  expect(await names({ ...ann, abilities: ['task:list', 'engine:status'] })).toEqual(['task_list'])
})

it('V-09 an MCP client over HTTP that guesses tokens gets 429; the valid token is accepted', async () => {
  const clock = new SimulatedClock()
  const handler = mcpFetchHandler(await openEngine(), { token, clock })
  onTestFinished(() => handler.close())
  const attempt = async (address: string, tried: string) => {
    const { status, headers } = await replyOf(
      await handler(requestOf(listTools, { authorization: `Bearer ${tried}` }), { address }),
    )
    return [status, headers.get('retry-after')]
  }
  for (let count = 0; count < 20; count++) expect(await attempt('192.0.2.1', `wrong-${count}`)).toEqual([401, null])
  expect(await attempt('192.0.2.1', 'wrong')).toEqual([429, '3'])
  expect(await attempt('192.0.2.1', token)).toEqual([200, null])
  expect(await attempt('192.0.2.2', 'wrong')).toEqual([401, null])
})

it('V-09 an MCP client over HTTP has a limited number of concurrent requests, subscriptions included, without affecting others', async () => {
  const { handler } = await openTenants({ maxRequestsPerPrincipal: 2 })
  const listen = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
  const listening = async (principal: Principal) => (await handler(requestOf(listen, bearing(principal)))).body
  const bodies = [await listening(ann), await listening(ann)]
  const refused = await post(handler, listTools, bearing(ann))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await post(handler, listTools, bearing(otherAnn))).status).toBe(200)
  await bodies[0]?.cancel()
  expect((await post(handler, listTools, bearing(ann))).status).toBe(200)
  expect((await post(handler, listTools, bearing(ann))).status).toBe(200)
  await bodies[1]?.cancel()
})

function ability(id: string) {
  const schema = z.strictObject({})
  return defineAbility({ id, description: 'Does it.', input: schema, output: schema, handle: () => ({}) })
}
