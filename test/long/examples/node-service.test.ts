// The service in examples/node-service as a process: requests over HTTP, stopping, and kill -9. The duration of counting depends on
// the number of words, so a low rate stops in the middle of a document.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { StreamItem } from '../../../src/engine/engine-api.ts'

const root = join(import.meta.dirname, '../../..')
const main = join(root, 'examples/node-service/main.ts')
const library = join(root, 'examples/node-service/service.ts')

/** At this rate `long` takes twenty-five minutes, and `short` almost no time. */
const slowly = ['--words-per-second', '100']
const short = 'a few\nwords'
const long = 'word '.repeat(150_000)

const halfway = {
  title: 'Halfway',
  documents: [
    { name: 'first', text: short },
    { name: 'second', text: long },
    { name: 'third', text: short },
  ],
}

function ledgerFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-service-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'reports.db')
}

/** A program in its own process, whose output is read line by line, and which is always ended. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const listeners = new Set<() => void>()
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString()
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const listen of listeners) listen()
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    lines,
    exited,
    complaints: () => complaints,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Resolves to the first line with this beginning; rejects when the process ends before. */
    printed: (beginning: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.find((each) => each.startsWith(beginning))
          if (line === undefined) return
          listeners.delete(look)
          resolve(line)
        }
        listeners.add(look)
        look()
        void exited.then(({ code, signal }) =>
          reject(new Error(`It ended (${code ?? signal}) without "${beginning}": ${lines.join('\n')} ${complaints}`)),
        )
      }),
  }
}

type Process = ReturnType<typeof start>

async function urlOf({ printed }: Process): Promise<string> {
  return (await printed('Listening on ')).slice('Listening on '.length)
}

async function startService(ledger: string, args: readonly string[] = []) {
  const started = start([main, '--ledger', ledger, ...args])
  return { ...started, url: await urlOf(started) }
}

async function ask(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(`${url}/reports`, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })

/** All items of a stream until its end. */
async function readStream(response: Response): Promise<Array<{ id: number; item: StreamItem }>> {
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
  return frames.map((frame) => {
    const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(frame) ?? []
    return { id: Number(id), item: JSON.parse(data as string) as StreamItem }
  })
}

/** An engine on the ledger that runs no tasks. */
async function witnessOf(ledger: string) {
  const engine = await createEngine({ ledger, work: false })
  onTestFinished(() => engine.close())
  return engine
}

const counted = (lines: readonly string[]) => lines.filter((line) => line.startsWith('counting '))

describe('the example of a service with an engine', () => {
  it('X-029 the example service accepts a report, returns its address, and has its result in the end', async () => {
    const { url } = await startService(ledgerFile())
    const created = await post(url, {
      title: ' Two ',
      documents: [
        { name: 'a', text: short },
        { name: 'b', text: 'one' },
      ],
    })
    expect(created).toMatchObject({ status: 202, body: { title: 'Two', status: 'submitted', result: null } })
    expect(created.headers.get('location')).toBe(`/reports/${created.body.id}`)
    await readStream(await fetch(`${url}/reports/${created.body.id}/stream`))
    expect(await ask(`${url}${created.headers.get('location')}`)).toMatchObject({
      status: 200,
      body: {
        status: 'completed',
        progress: { fraction: 1 },
        result: {
          documents: [
            { name: 'a', lines: 2, words: 3, characters: short.length },
            { name: 'b', lines: 1, words: 1, characters: 3 },
          ],
          total: { lines: 3, words: 4, characters: short.length + 3 },
        },
      },
    })
    expect(await ask(`${url}/health`)).toMatchObject({ status: 200, body: { status: 'ok', maxConcurrent: 10 } })
  })

  it('the example service creates one task per Idempotency-Key, and refuses another request with the same key', async () => {
    const ledger = ledgerFile()
    const { url } = await startService(ledger)
    const key = { 'idempotency-key': 'monday' }
    const request = { title: 'Once', documents: [{ name: 'a', text: short }] }
    const answers = await Promise.all([post(url, request, key), post(url, request, key)])
    answers.push(await post(url, request, key))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    const other = { ...request, documents: [{ name: 'a', text: 'another' }] }
    expect(await post(url, other, key)).toMatchObject({ status: 409, body: { error: { code: 'KEY_CONFLICT' } } })
    expect((await post(url, request)).body.id).not.toBe(answers[0]?.body.id)
    const { tasks } = await (await witnessOf(ledger)).list()
    expect(tasks.map((task) => task.key)).toEqual(['monday', null])
  })

  it('X-032 the example service refuses an invalid report, and creates nothing', async () => {
    const ledger = ledgerFile()
    const { url } = await startService(ledger)
    const document = { name: 'a', text: 'b' }
    for (const bad of [
      '',
      '{"title":',
      [],
      { title: 'no documents' },
      { title: ' ', documents: [document] },
      { title: 'none', documents: [] },
      { title: 'a number', documents: [{ name: 'a', text: 1 }] },
      { title: 'unknown', documents: [document], titel: 'x' },
      { title: 'NUL', documents: [{ name: 'a', text: 'a\u0000b' }] },
    ]) {
      expect(await post(url, bad), JSON.stringify(bad)).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_INPUT', message: expect.any(String) } },
      })
    }
    expect(
      await post(url, { title: 'x', documents: [document] }, { 'idempotency-key': 'k'.repeat(501) }),
    ).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT' } },
    })
    expect(await post(url, { title: 'x', documents: [{ name: 'a', text: 'x'.repeat(1_000_000) }] })).toMatchObject({
      status: 413,
      body: { error: { code: 'BODY_TOO_LARGE' } },
    })
    expect((await (await witnessOf(ledger)).list()).total).toBe(0)
    expect((await ask(`${url}/health`)).status).toBe(200)
  })

  it('X-032 the example service accepts only ids of its reports, and lists the allowed methods', async () => {
    const ledger = ledgerFile()
    const { url } = await startService(ledger)
    const foreign = await (await witnessOf(ledger)).create({ name: 'of another client' })
    for (const id of ['task-unknown', foreign.id, '%00', '..%2f']) {
      for (const [method, rest] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/stream'],
      ] as const) {
        expect(await ask(`${url}/reports/${id}${rest}`, { method }), `${method} ${id}${rest}`).toMatchObject({
          status: 404,
          body: { error: { code: 'NOT_FOUND' } },
        })
      }
    }
    expect((await ask(`${url}/`)).status).toBe(404)
    const refused = await ask(`${url}/reports`, { method: 'PATCH' })
    expect(refused).toMatchObject({ status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } })
    expect(refused.headers.get('allow')).toBe('POST')
  })

  it('the example service cancels a report that is being counted, and it stays canceled', async () => {
    const ledger = ledgerFile()
    const { url, printed } = await startService(ledger, slowly)
    const { id } = (await post(url, halfway)).body
    await printed('counting second')
    const following = fetch(`${url}/reports/${id}/stream`).then(readStream)
    expect(await ask(`${url}/reports/${id}`, { method: 'DELETE' })).toMatchObject({
      status: 200,
      body: { id, status: 'canceled', statusReason: 'canceled by a client' },
    })
    expect((await following).at(-1)?.item).toMatchObject({ type: 'end', status: 'canceled' })
    expect(await ask(`${url}/reports/${id}`, { method: 'DELETE' })).toMatchObject({
      status: 409,
      body: { error: { code: 'INVALID_TRANSITION', message: expect.stringContaining('canceled is final') } },
    })
    const witness = await witnessOf(ledger)
    for await (const event of witness.events({ taskId: id })) if (event.type === 'run.closed') break
    const [run] = await witness.runs(id)
    expect(run).toMatchObject({ status: 'closed', outcome: 'canceled' })
  })

  it('the example service streams a report from its first step to exactly one end, and from any position', async () => {
    const { url } = await startService(ledgerFile())
    const documents = ['a', 'b', 'c'].map((name) => ({ name, text: short }))
    const { id } = (await post(url, { title: 'Streamed', documents })).body
    const live = await readStream(await fetch(`${url}/reports/${id}/stream`))
    const types = live.map(({ item }) => item.type)
    expect(types).toEqual([
      'start',
      'state',
      ...documents.flatMap(() => ['tool_call', 'tool_result', 'progress']),
      'state',
      'end',
    ])
    const ids = live.map((frame) => frame.id)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    const again = async (after: number) =>
      readStream(await fetch(`${url}/reports/${id}/stream`, { headers: { 'last-event-id': `${after}` } }))
    expect(await again(0)).toEqual(live)
    expect(await again(ids[4] as number)).toEqual(live.slice(5))
    expect((await again(ids.at(-1) as number)).map(({ item }) => item.type)).toEqual(['end'])
    const askedBadly = await ask(`${url}/reports/${id}/stream`, { headers: { 'last-event-id': 'x' } })
    expect(askedBadly).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
  })
})

describe('stopping the example service', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'X-031 the example service drains on %s within its limit, ends with code 0, and continues at the next start',
    async (signal) => {
      const ledger = ledgerFile()
      const first = await startService(ledger, [...slowly, '--shutdown-timeout-ms', '400'])
      const { id } = (await post(first.url, halfway)).body
      const stream = await fetch(`${first.url}/reports/${id}/stream`)
      await first.printed('counting second')
      first.signal(signal)
      await first.printed(`${signal}: draining`)
      await expect(fetch(`${first.url}/health`)).rejects.toThrow('fetch failed')
      // The client reconnects, because the report has not ended.
      expect((await readStream(stream)).map(({ item }) => item.type)).not.toContain('end')
      expect(await first.exited).toEqual({ code: 0, signal: null })
      expect(first.complaints()).toBe('')

      const second = await startService(ledger)
      const items = await readStream(await fetch(`${second.url}/reports/${id}/stream`))
      expect(items.at(-1)?.item).toMatchObject({ type: 'end', status: 'completed' })
      await second.printed('counting third')
      expect(counted([...first.lines, ...second.lines])).toEqual([
        'counting first',
        'counting second',
        'counting second',
        'counting third',
      ])
      const witness = await witnessOf(ledger)
      expect((await witness.runs(id)).map((run) => run.outcome)).toEqual(['released', 'completed'])
    },
  )

  it('X-031 the example service lets a nearly counted document finish when it is stopped, and does not count it again', async () => {
    const ledger = ledgerFile()
    // Ten words: a tenth of a second.
    const documents = ['first', 'second', 'third'].map((name) => ({ name, text: 'word '.repeat(10) }))
    const first = await startService(ledger, slowly)
    const { id } = (await post(first.url, { title: 'Nearly', documents })).body
    await first.printed('counting second')
    first.signal('SIGTERM')
    expect(await first.exited).toEqual({ code: 0, signal: null })
    const second = await startService(ledger)
    await readStream(await fetch(`${second.url}/reports/${id}/stream`))
    // The stream can end before the last line of standard output arrives.
    await Promise.any([first.printed('counting third'), second.printed('counting third')])
    const lines = counted([...first.lines, ...second.lines])
    expect(lines).toEqual(documents.map(({ name }) => `counting ${name}`))
  })

  it('X-031 the example service answers a request in progress when it is stopped, and keeps what it created', async () => {
    const ledger = ledgerFile()
    const service = await startService(ledger)
    const body = JSON.stringify({ title: 'Late', documents: [{ name: 'a', text: short }] })
    const sending = request(`${service.url}/reports`, { method: 'POST', headers: { expect: '100-continue' } })
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>
    sending.flushHeaders()
    // The body is being read.
    await once(sending, 'continue')
    sending.write(body.slice(0, 10))
    service.signal('SIGTERM')
    await service.printed('SIGTERM: draining')
    sending.end(body.slice(10))
    const [response] = await answered
    expect(response.statusCode).toBe(202)
    expect(response.headers.connection).toBe('close')
    const { id } = (await json(response)) as { id: string }
    expect(await service.exited).toEqual({ code: 0, signal: null })
    expect(await (await witnessOf(ledger)).get(id)).toMatchObject({ name: 'Late' })
  })

  it('X-031 the example service ends at once when it is idle, with an idle connection', async () => {
    const service = await startService(ledgerFile())
    expect((await ask(`${service.url}/health`)).status).toBe(200)
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
  })

  it('X-031 the example service ends within its limit when an executor ignores its signal, and loses nothing', async () => {
    const ledger = ledgerFile()
    const options = `{ report, ledger: ${JSON.stringify(ledger)}, port: 0, shutdownTimeoutMs: 300 }`
    const stubborn = start([
      '--input-type=module',
      '-e',
      `import { defineExecutor } from 'errand'
       import { closeOnSignals, startService } from ${JSON.stringify(library)}
       const run = () => {
         console.log('counting forever')
         return new Promise((resolve) => setTimeout(resolve, 3_600_000))
       }
       const report = defineExecutor({ run })
       const service = await startService(${options})
       closeOnSignals(service, 5_000)
       console.log('Listening on ' + service.url)`,
    ])
    const url = await urlOf(stubborn)
    const { id } = (await post(url, { title: 'Stubborn', documents: [{ name: 'a', text: short }] })).body
    await stubborn.printed('counting forever')
    stubborn.signal('SIGTERM')
    expect(await stubborn.exited).toEqual({ code: 0, signal: null })

    const second = await startService(ledger)
    const items = await readStream(await fetch(`${second.url}/reports/${id}/stream`))
    expect(items.at(-1)?.item).toMatchObject({ type: 'end', status: 'completed' })
  })

  it.each([
    { how: 'and hangs, ends when its limit is over', limitMs: 100, signals: ['SIGTERM'], code: 1 },
    { how: 'twice, ends at the second signal', limitMs: 3_600_000, signals: ['SIGTERM', 'SIGINT'], code: 130 },
  ] as const)('X-031 the example service stops: $how', async ({ limitMs, signals, code }) => {
    const hanging = start([
      '--input-type=module',
      '-e',
      `import { closeOnSignals } from ${JSON.stringify(library)}
       closeOnSignals({ close: () => new Promise(() => {}) }, ${limitMs})
       setInterval(() => {}, 3_600_000)
       console.log('ready')`,
    ])
    await hanging.printed('ready')
    for (const signal of signals) {
      hanging.signal(signal)
      if (signal === 'SIGTERM') await hanging.printed('SIGTERM: draining')
    }
    expect(await hanging.exited).toEqual({ code, signal: null })
    expect(hanging.complaints()).toBe(code === 1 ? `Not drained after ${limitMs} ms.\n` : '')
  })
})

it('X-026 X-029 the example service continues a document after kill -9, and repeats no completed step', async () => {
  const ledger = ledgerFile()
  const first = await startService(ledger, slowly)
  const key = { 'idempotency-key': 'killed' }
  const { id } = (await post(first.url, halfway, key)).body
  await first.printed('counting second')
  first.signal('SIGKILL')
  expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })

  const second = await startService(ledger)
  // The client did not receive the end, and repeats the request.
  expect((await post(second.url, halfway, key)).body.id).toBe(id)
  const items = await readStream(await fetch(`${second.url}/reports/${id}/stream`))
  expect(items.filter(({ item }) => item.type === 'end')).toEqual([
    { id: expect.any(Number), item: expect.objectContaining({ status: 'completed' }) },
  ])
  expect((await ask(`${second.url}/reports/${id}`)).body.result.total).toEqual({
    lines: 5,
    words: 150_006,
    characters: 2 * short.length + long.length,
  })
  await second.printed('counting third')
  expect(counted(first.lines)).toEqual(['counting first', 'counting second'])
  expect(counted(second.lines)).toEqual(['counting second', 'counting third'])
  const witness = await witnessOf(ledger)
  expect((await witness.calls(id)).map(({ params, status, error }) => [params, status, error?.code])).toEqual([
    [{ name: 'first' }, 'completed', undefined],
    [{ name: 'second' }, 'failed', 'CALL_INTERRUPTED'],
    [{ name: 'second' }, 'completed', undefined],
    [{ name: 'third' }, 'completed', undefined],
  ])
  expect((await witness.runs(id)).map((run) => run.outcome)).toEqual(['interrupted', 'completed'])
})
