// The OpenAPI document: valid, complete, and sufficient for a generated client that does the work of a team over a real server.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type OpenApiDocument, type Principal, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { openWorld, token } from './world.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

async function complaintsAbout(document: object): Promise<unknown[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as Record<string, unknown>)
  return valid ? [] : [errors].flat()
}

/** References without a target. */
function brokenReferences(document: object): string[] {
  const broken: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string' && find(document, inner) === undefined) broken.push(inner)
      visit(inner)
    }
  }
  visit(document)
  return broken
}

function find(document: object, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
}

function operationsOf({ paths }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

it('the OpenAPI document is valid, with resolvable references and unique operation ids', async () => {
  const { ask } = await openWorld()
  const { body: document } = await ask('GET', '/openapi.json')
  expect(await complaintsAbout(document)).toEqual([])
  expect(brokenReferences(document)).toEqual([])
  const names = operationsOf(document).map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => !/^[A-Za-z_]\w*$/.test(name))).toEqual([])
})

it('the check of the OpenAPI document finds a planted fault', async () => {
  const { http } = await openWorld()
  const document = structuredClone(http.openapi())
  document.components.schemas['Problem'] = { $ref: '#/components/schemas/Nothing' }
  expect(brokenReferences(document)).toEqual(['#/components/schemas/Nothing'])
  const faulty = JSON.parse(JSON.stringify({ ...document, info: { title: 'errand' } })) as object
  expect(await complaintsAbout(faulty)).not.toEqual([])
})

it('the OpenAPI document contains every ability, including those registered later, with any name', async () => {
  const { engine, http } = await openWorld()
  for (const id of ['a:b:c', 'a:b_c', 'a:b-c', 'a:B_c']) {
    engine.bus.register({
      id,
      description: id,
      input: { type: 'object', $defs: { x: { type: 'string' } }, properties: { x: { $ref: '#/$defs/x' } } },
      output: z.object({}),
      handle: () => ({}),
    })
  }
  const document = http.openapi()
  for (const { id } of engine.bus.abilities()) expect(document.paths).toHaveProperty([`/abilities/${id}`, 'post'])
  expect(await complaintsAbout(document)).toEqual([])
  expect(brokenReferences(document)).toEqual([])
  const names = operationsOf(document).map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
})

it('the OpenAPI document contains only what the principal may call', async () => {
  let principal: Principal = { scopes: [] }
  const { ask } = await openWorld({ authenticate: () => principal })
  const documentOfPrincipal = async () => {
    const { body: document } = await ask('GET', '/openapi.json')
    expect(await complaintsAbout(document)).toEqual([])
    expect(brokenReferences(document)).toEqual([])
    return document as OpenApiDocument
  }
  const own = ['/abilities', '/docs', '/openapi.json']
  expect(Object.keys((await documentOfPrincipal()).paths).sort()).toEqual(own)
  expect(Object.keys((await documentOfPrincipal()).components.schemas)).toEqual(['Problem'])
  expect((await ask('GET', '/docs')).body).not.toContain('/tasks')
  principal = { scopes: ['read'] }
  expect(Object.keys((await documentOfPrincipal()).paths['/tasks'] ?? {})).toEqual(['get'])
  principal = { scopes: ['admin'], abilities: ['engine:status'] }
  expect(Object.keys((await documentOfPrincipal()).paths).sort()).toEqual(
    [...own, '/abilities/engine:status', '/status'].sort(),
  )
})

it('the OpenAPI document describes path, query, headers, body and required scope of each operation', async () => {
  const { http } = await openWorld()
  const { paths } = http.openapi()
  const list = paths['/tasks']?.['get']
  expect(list?.parameters?.map((each) => `${each.in} ${each.name}`)).toContain('query limit')
  expect(list?.security).toEqual([{ bearer: ['read'] }])
  const update = paths['/tasks/{taskId}/objectives/{objectiveId}']?.['patch']
  expect(update?.parameters?.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual([
    'taskId',
    'objectiveId',
  ])
  const body = update?.requestBody?.content['application/json']?.schema as { properties: object; required: string[] }
  expect([Object.keys(body.properties), body.required]).toEqual([['status', 'agentId', 'notes'], ['status']])
  expect(paths['/tasks/{taskId}']?.['patch']?.parameters?.map(({ name }) => name)).toContain('If-Match')
  expect(paths['/events']?.['get']?.parameters?.map(({ name }) => name)).toContain('Last-Event-ID')
  expect(paths['/tasks']?.['post']?.responses['201']).toHaveProperty(['headers', 'Location'])
  expect(Object.keys(paths['/tasks/{taskId}/pause']?.['post']?.responses ?? {})).toEqual(
    expect.arrayContaining(['413', '415', '422']),
  )
  expect(paths['/events']?.['get']?.responses).toHaveProperty('503')
})

it('the OpenAPI document is rendered as a page without scripts or external resources, with texts of abilities escaped', async () => {
  const { ask, engine } = await openWorld()
  engine.bus.register({
    id: 'odd:one',
    description: '<script>alert(1)</script> & "more" `code`',
    input: z.object({ '<b>': z.string().optional() }),
    output: z.object({}),
    handle: () => ({}),
  })
  const { status, headers, body } = await ask('GET', '/docs')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/html/)
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  expect(body).not.toMatch(/<script|<b>|src=|https?:\/\//)
  expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot; <code>code</code>')
  expect(body).toContain('<code>POST /tasks/{taskId}/join</code>')
  const ids = Array.from((body as string).matchAll(/ id="([^"]+)"/g), ([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

/** The work of a team as in the documents of day1, by a client that was generated from the OpenAPI document. */
const scenario = `
import * as api from './client.ts'
api.defaults.baseUrl = process.env['BASE_URL'] as string
api.defaults.headers = { authorization: 'Bearer ' + process.env['TOKEN'] }
const created = await api.createTask({ name: 'Fix the login', objectives: ['Fix it', 'Test it'] }, {})
const { taskId, branch } = created
const joined: string[] = []
for (const agentId of ['ann', 'bob']) {
  const { branch } = await api.joinTask(taskId, { agentId, role: 'implementer' }, {})
  joined.push(branch)
}
await api.updateObjective(taskId, 1, { status: 'done', agentId: 'ann' }, {})
await api.updateObjective(taskId, 2, { status: 'done', agentId: 'bob' }, {})
await api.callAbilityMemObserve({ taskId, agentId: 'ann', sessionId: 's', type: 'decision', content: 'Tokens are renewed by the middleware' })
for (const agentId of ['ann', 'bob']) await api.completeAgent(taskId, agentId, { summary: 'did it' }, {})
const done = await api.completeTask(taskId, { summary: 'fixed' }, {})
const consolidated = await api.consolidate(taskId, { level: 'task' }, {})
const context = await api.getContext(taskId, {})
const missing = await api.getTask('missing').catch((error) => error.status + ' ' + error.data?.code)
console.log(JSON.stringify({ taskId, branch, joined, status: done.status, consolidated, progress: context.progress, missing }))
`

it('X-030 S2-050 a client generated from the OpenAPI document supports the work of a team over a real server, with types', async () => {
  const world = await openWorld()
  const server = createServer(toNodeListener(world.http.fetch, (error) => world.errors.push(error)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const folder = await mkdtemp(join(tmpdir(), 'errand-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(world.http.openapi()))
  await run(join(root, 'node_modules/.bin/oazapfts'), [
    '--optimistic',
    join(folder, 'openapi.json'),
    join(folder, 'client.ts'),
  ])
  await writeFile(join(folder, 'scenario.ts'), scenario)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { ...process.env, BASE_URL: url, TOKEN: token }
  const flags =
    '--strict --noEmit --skipLibCheck --allowImportingTsExtensions --module nodenext --target es2024 --types node'
  const script = join(folder, 'scenario.ts')
  const checked = await run(join(root, 'node_modules/.bin/tsc'), [...flags.split(' '), script], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error)
  expect(checked.stdout).toBe('')
  const { stdout } = await run(process.execPath, ['--experimental-transform-types', '--no-warnings', script], { env })
  const result = JSON.parse(stdout)
  expect(result).toMatchObject({
    status: 'completed',
    consolidated: { durable: expect.any(Array) },
    progress: { total: 2, done: 2 },
    missing: '404 NOT_FOUND',
  })
  expect(result.joined).toEqual([expect.stringContaining('ann'), expect.stringContaining('bob')])
  expect((await world.engine.get(result.taskId))?.status).toBe('completed')
  expect(world.errors).toEqual([])
})
