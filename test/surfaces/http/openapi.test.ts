import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { OpenApiDocument, Principal } from '../../../src/surfaces/http/index.ts'
import { openWorld } from './world.ts'

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
  const own = ['/abilities', '/docs', '/openapi.json', '/signals/{token}']
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

it('the OpenAPI document describes the call of a webhook, which needs no credentials', async () => {
  const { http } = await openWorld()
  const call = http.openapi().paths['/signals/{token}']?.['post']
  expect(call).toMatchObject({ security: [], parameters: [{ name: 'token', in: 'path', required: true }] })
  expect(Object.keys(call?.requestBody?.content ?? {})).toEqual(['application/json', '*/*'])
  expect(Object.keys(call?.responses ?? {})).toEqual(expect.arrayContaining(['202', '404', '409', '413']))
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
