// The modules of examples/next-service as Next.js calls them: its route handlers with requests, and `register` at the start of a server.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as reports from '../../../examples/next-service/app/api/reports/route.ts'
import * as errand from '../../../examples/next-service/app/errand/[[...path]]/route.ts'
import { register } from '../../../examples/next-service/instrumentation.ts'
import { service, stopService } from '../../../examples/next-service/lib/engine.ts'
import config from '../../../examples/next-service/next.config.ts'

const folder = mkdtempSync(join(tmpdir(), 'errand-next-'))
const ledger = join(folder, 'reports.db')
const token = 'a-token-of-thirty-two-characters-or-more'

beforeAll(() => {
  vi.stubEnv('ERRAND_LEDGER', ledger)
  vi.stubEnv('ERRAND_TOKEN', token)
  vi.stubEnv('SECTION_MS', '1')
})

afterAll(async () => {
  await stopService()
  forget()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** As in a process that has just started. */
const forget = () => Reflect.deleteProperty(globalThis, 'errandService')

const order = (body: unknown) =>
  new Request('http://localhost:3000/api/reports', { method: 'POST', body: JSON.stringify(body) })

async function created(topic: string): Promise<{ taskId: string; progress: string }> {
  const response = await reports.POST(order({ topic }))
  expect(response.status).toBe(202)
  return (await response.json()) as { taskId: string; progress: string }
}

const streamOf = async (progress: string) =>
  await (await reports.GET(new Request(`http://localhost:3000${progress}`))).text()

it('neither the routes nor `register` in another runtime open the ledger', async () => {
  vi.stubEnv('NEXT_RUNTIME', 'edge')
  await register()
  expect(existsSync(ledger)).toBe(false)
})

it('`register` opens the ledger in a server, and each later call gets the same engine', async () => {
  vi.stubEnv('NEXT_RUNTIME', 'nodejs')
  await register()
  expect(existsSync(ledger)).toBe(true)
  expect(await service()).toBe(await service())
})

it('a route of the service creates a report and streams its progress to the end', async () => {
  const { progress } = await created('tides')
  const stream = await streamOf(progress)
  expect(Array.from(stream.matchAll(/"fraction":1,"note":"(\w+)"/g), ([, note]) => note)).toEqual(['Outlook'])
  expect(stream).toMatch(/event: end\ndata: .*"status":"completed"/)
  expect((await reports.POST(order({ subject: 'tides' }))).status).toBe(400)
  expect((await reports.GET(new Request('http://localhost:3000/api/reports?id=task-none'))).status).toBe(404)
})

it('the routes and the page of the engine are below /errand, for clients with the token', async () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    errand.GET(new Request(`http://localhost:3000/errand${path}`, { headers }))
  expect((await get('/tasks')).status).toBe(401)
  const authorization = `Bearer ${token}`
  const list = await get('/tasks', { authorization })
  expect([list.status, ((await list.json()) as { total: number }).total]).toEqual([200, 1])
  const page = await get('', { authorization })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const headers = { authorization, host: 'reports.example.org' }
  expect((await get('/tasks', headers)).status).toBe(403)
})

it('a report that was open when the service stopped continues at its next start', async () => {
  vi.stubEnv('SECTION_MS', '300')
  const { taskId, progress } = await created('the moon')
  const stream = await reports.GET(new Request(`http://localhost:3000${progress}`))
  await stopService()
  forget()
  expect(await stream.text()).not.toContain('event: end')
  const { engine } = await service()
  expect(await engine.result(taskId)).toEqual({ text: 'Summary: the moon\nFigures: the moon\nOutlook: the moon' })
  const written = (await engine.calls(taskId)).filter(({ status }) => status === 'completed')
  expect(written.map(({ params }) => params)).toEqual(['Summary', 'Figures', 'Outlook'].map((section) => ({ section })))
})

it('the packages that must not be bundled are named', () => {
  expect(config.serverExternalPackages).toEqual(['errand', 'better-sqlite3'])
})
