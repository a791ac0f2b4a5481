// Random requests: each is answered, no answer is an internal error, and each refusal is a problem.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { routes } from '../../../src/surfaces/http/routes.ts'
import { runs } from '../../tier.ts'
import { openWorld, problemIn, requestOf, type World } from './world.ts'

const odd = fc.oneof(
  fc.constantFrom(
    '',
    '1',
    '-1',
    'null',
    'true',
    '..',
    '%2f',
    '%00',
    '__proto__',
    'constructor',
    'a,b',
    '1e9',
    '9'.repeat(40),
  ),
  fc.string({ maxLength: 20 }),
)
const path = fc
  .tuple(
    fc.constantFrom(...routes.map((route) => route.path), '/abilities/{id}', '/nothing/{x}', '/'),
    fc.array(odd, { maxLength: 3 }),
  )
  .map(([template, values]) => {
    const left = [...values]
    return template.replaceAll(/\{\w+\}/g, () => encodeURIComponent((left.shift() ?? 'x').toWellFormed()))
  })
const query = fc.array(
  fc.tuple(fc.constantFrom('limit', 'after', 'status', 'taskId', 'types', 'ids', 'format', 'x', '__proto__'), odd),
  { maxLength: 3 },
)
const body = fc.option(
  fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.string({ maxLength: 30 }),
    fc.constantFrom('{', '[]', 'null', '{"name":"a"}', '{"__proto__":1}', '{"taskId":7,"message":[]}'),
  ),
  { nil: undefined },
)
const headers = fc.dictionary(
  fc.constantFrom('if-match', 'idempotency-key', 'last-event-id', 'content-type', 'accept', 'origin'),
  fc.constantFrom('"1"', '*', 'x', '7', 'application/json', 'text/plain', 'http://localhost', 'null'),
  { maxKeys: 3 },
)

async function answerTo(
  world: World,
  sent: readonly [string, string, Array<[string, string]>, string | undefined, Record<string, string>],
) {
  const [method, where, asked, given, more] = sent
  const text = new URLSearchParams(
    asked.map(([name, value]): [string, string] => [name, value.toWellFormed()]),
  ).toString()
  const reading = method === 'GET' || method === 'HEAD'
  const url = text === '' ? where : `${where}?${text}`
  const request = requestOf(method, url, reading ? undefined : given?.toWellFormed(), more)
  const response = await world.http(request)
  if (/event-stream/.test(response.headers.get('content-type') ?? '')) {
    await response.body?.cancel()
    return { status: response.status, headers: response.headers, body: null }
  }
  const content = await response.text()
  return { status: response.status, headers: response.headers, body: content === '' ? null : tryJson(content) }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

it('X-037 X-032 the HTTP handler answers any request, and never with an internal error', async () => {
  const world = await openWorld({ rateLimit: false })
  const method = fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'HEAD', 'PUT', 'OPTIONS')
  await fc.assert(
    fc.asyncProperty(fc.tuple(method, path, query, body, headers), async (sent) => {
      const reply = await answerTo(world, sent)
      expect(reply.status).toBeLessThan(500)
      if (reply.status >= 400 && sent[0] !== 'HEAD') problemIn(reply)
    }),
    { numRuns: runs(60, 500) },
  )
  expect(world.errors).toEqual([])
})
