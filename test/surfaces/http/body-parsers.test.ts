// A server that has read the body of a request before the engine receives it, as body parsers of frameworks do.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createHttp, toNodeListener } from '../../../src/surfaces/http/index.ts'
import { openEngine } from '../../engine/world.ts'

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('a request whose body a body parser has read is refused, and the refusal says where to mount errand', async () => {
  const http = createHttp(await openEngine({ work: false }), { token: false })
  const listener = toNodeListener(http.fetch, console.error)
  const url = await listen((request, response) => void text(request).then(() => listener(request, response)))
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"role":"writer"}' }
  for (const path of ['/tasks', '/abilities/task:list']) {
    const refused = await fetch(`${url}${path}`, init)
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      400,
      'The body could not be read, because the server has read it before. Mount errand before body parsers such as express.json().',
    ])
  }
  expect((await fetch(`${url}/tasks`)).status).toBe(200)

  const request = new Request('http://localhost/tasks', init)
  await request.text()
  const used = await http.fetch(request)
  expect([used.status, ((await used.json()) as { detail: string }).detail]).toEqual([
    400,
    expect.stringContaining('express.json()'),
  ])
})
