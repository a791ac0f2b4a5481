// The services in examples/hono-service and examples/fastify-service as processes: their own routes, the routes of the engine, and
// the scopes of their keys.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../../..')

const keys = {
  reader: { key: 'key-of-rita-who-reads', owner: 'rita', scopes: ['read'] },
  maker: { key: 'key-of-carl-who-creates', owner: 'carl', scopes: ['read', 'create'] },
  operator: { key: 'key-of-olga-who-operates', owner: 'olga', scopes: ['read', 'create', 'control'] },
}
type Who = keyof typeof keys

async function start(example: string, ledger: string) {
  const child = spawn(process.execPath, [join(root, 'examples', example, 'main.ts'), '--ledger', ledger], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, API_KEYS: JSON.stringify(Object.values(keys)) },
  })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^Listening on (\S+)$/.exec(line) ?? []
    if (url !== undefined) {
      child.stdout.resume()
      return { url, stop: () => child.kill('SIGTERM'), exited, complaints: () => complaints }
    }
  }
  throw new Error(`It ended without listening: ${complaints}`)
}

async function ask(url: string, who?: Who, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(who === undefined ? {} : { authorization: `Bearer ${keys[who].key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text === '' ? null : JSON.parse(text)) as any }
}

function ledgerFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-mounted-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'releases.db')
}

const wanted = { executor: 'release', name: '1.2.3', tags: ['1.2.3'], input: { version: '1.2.3' } }

describe.each(['hono-service', 'fastify-service'])('%s', (example) => {
  it('X-029 %s serves its own routes, and below /errand the engine to clients with a valid key', async () => {
    const { url, stop, exited, complaints } = await start(example, ledgerFile())
    expect(await ask(`${url}/health`)).toMatchObject({ status: 200, body: { running: 0 } })
    expect((await ask(`${url}/releases/1.2.3`)).status).toBe(404)

    for (const path of ['/tasks', '/status', '/nothing', '/openapi.json']) {
      const refused = await ask(`${url}/errand${path}`)
      expect([path, refused.status, refused.body.code]).toEqual([path, 401, 'UNAUTHENTICATED'])
    }
    expect(await ask(`${url}/errand/tasks`, 'reader', wanted)).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
    const created = await ask(`${url}/errand/tasks`, 'maker', wanted, { 'idempotency-key': 'release 1.2.3' })
    expect(created.status).toBe(201)
    const { taskId } = created.body as { taskId: string }
    expect(created.headers.get('location')).toBe(`/errand/tasks/${taskId}`)
    expect(
      (await ask(`${url}/errand/tasks`, 'maker', wanted, { 'idempotency-key': 'release 1.2.3' })).body.taskId,
    ).toBe(taskId)
    expect((await ask(`${url}/errand/tasks`, 'maker', '{"name":')).status).toBe(400)

    const stream = await fetch(`${url}${created.headers.get('location')}/stream`, {
      headers: { authorization: `Bearer ${keys.reader.key}` },
    })
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    let received = ''
    for await (const chunk of stream.body ?? []) {
      const text = Buffer.from(chunk).toString()
      const answered = received.includes('event: question')
      received += text
      if (answered || !received.includes('event: question')) continue
      expect(await ask(`${url}/releases/1.2.3`)).toMatchObject({ body: { version: '1.2.3', status: 'input_required' } })
      const answer = `${url}/errand/tasks/${taskId}/answer`
      expect((await ask(answer, 'maker', { value: true })).status).toBe(403)
      expect(await ask(answer, 'operator', { value: true })).toMatchObject({ status: 200, body: { taskId } })
    }
    expect(received).toContain('event: end')
    const shown = await ask(`${url}/errand/tasks/${taskId}`, 'reader')
    expect(shown.body.task).toMatchObject({ status: 'completed', result: { version: '1.2.3', published: true } })

    stop()
    expect([await exited, complaints()]).toEqual([0, ''])
  })

  it('X-031 %s ends its streams when it is stopped, and continues at the next start', async () => {
    const ledger = ledgerFile()
    const first = await start(example, ledger)
    const { taskId } = (await ask(`${first.url}/errand/tasks`, 'operator', wanted)).body
    const authorization = `Bearer ${keys.reader.key}`
    const stream = await fetch(`${first.url}/errand/tasks/${taskId}/stream`, { headers: { authorization } })
    first.stop()
    expect(await stream.text()).not.toContain('event: end')
    expect([await first.exited, first.complaints()]).toEqual([0, ''])
    const second = await start(example, ledger)
    // The question appears once, whether it was asked before or after the restart.
    for (;;) {
      const answered = await ask(`${second.url}/errand/tasks/${taskId}/answer`, 'operator', { value: false })
      if (answered.status === 200) break
      expect(answered.status).toBe(409)
    }
    const done = await ask(`${second.url}/errand/abilities/task:wait`, 'reader', { taskIds: [taskId] })
    expect(done.status).toBe(200)
    const shown = await ask(`${second.url}/errand/tasks/${taskId}`, 'reader')
    expect(shown.body.task).toMatchObject({ status: 'completed', result: { published: false } })
    second.stop()
    expect(await second.exited).toBe(0)
  })
})
