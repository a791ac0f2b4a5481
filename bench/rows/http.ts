// Create and read over HTTP, beside bare Hono on a bare database with the engine's own statements.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type BareDatabase, floorDurability, openBare } from '../floors/bare-database.ts'
import type { LoadOrder, LoadReport } from '../http-load/load.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow, type Figures, type World } from '../runner/row.ts'
import { recordStatements, type Statement } from '../runner/statements.ts'

interface Size {
  requests: number
  concurrency: number
}

interface Given extends Size {
  what: 'create' | 'read'
}

const token = 'a-token-that-is-long-enough-for-the-bench'
const body = { name: 'over HTTP', input: { dir: 'photos', sizes: [1, 2, 3] } }

/** What the engine executes for one request, as the floor repeats it. */
interface Template {
  taskId: string
  create: Statement[]
  read: Statement[]
}

const templateFile = (prepared: string): string => join(prepared, 'http-statements.json')
const schemaFile = (prepared: string): string => join(prepared, 'http-schema.db')

/** A client in a process of its own, so that its work is not the server's. */
async function loadOn(url: string, { what, requests, concurrency }: Given, ids: readonly string[]): Promise<Figures> {
  const order: LoadOrder = { url, token, requests, concurrency, ids, body: what === 'create' ? body : null }
  const client = fork(join(import.meta.dirname, '../http-load/load.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  client.send(order)
  const [report] = (await once(client, 'message')) as [LoadReport]
  client.disconnect()
  if (report.failed > 0) throw new Error(`${report.failed} of ${requests} requests failed: ${report.reason}`)
  return { rate: (requests / report.tookMs) * 1_000, p50: report.p50 }
}

const readTasks = 100

async function serveErrand(given: Given, { errand, folder, packageRoot }: World): Promise<Figures> {
  const { createEngine } = await errand()
  const { serve } = await loadEntry<typeof import('errand/http')>(packageRoot, 'errand/http')
  const engine = await createEngine({ ledger: join(folder, 'ledger.db'), work: false })
  const created = await engine.create(Array.from({ length: readTasks }, () => body))
  const server = await serve(engine, { token, rateLimit: false, page: false })
  const figures = await loadOn(
    server.url,
    given,
    created.map(({ id }) => id),
  )
  await server.close()
  const { total } = await engine.list({ limit: 0 })
  const expected = readTasks + (given.what === 'create' ? given.requests : 0)
  if (total !== expected) throw new Error(`${total} of ${expected} tasks are in the ledger`)
  await engine.close()
  return figures
}

async function serveFloor(given: Given, { folder, prepared }: World): Promise<Figures> {
  const { Hono } = await import('hono')
  const { serve } = await import('@hono/node-server')
  copyFileSync(schemaFile(prepared), join(folder, 'floor.db'))
  const bare = openBare(folder, '')
  const template = JSON.parse(readFileSync(templateFile(prepared), 'utf8')) as Template
  const [create, read] = [repeat(bare.database, template, 'create'), repeat(bare.database, template, 'read')]
  let count = 0
  const newId = (): string => `task-${(((++count + 1) * 2_654_435_761) % 2 ** 32).toString(36)}`
  const app = new Hono()
  app.post('/tasks', async (context) => {
    const { name, input } = (await context.req.json()) as typeof body
    const id = newId()
    await bare.write(() => void create(id))
    return context.json({ id, name, input, status: 'submitted' }, 201)
  })
  app.get('/tasks/:id', (context) => {
    const row = read(context.req.param('id'))
    return row === undefined ? context.json({ error: 'not found' }, 404) : context.json(row)
  })
  const ids = Array.from({ length: readTasks }, newId)
  for (const id of ids) bare.writeNow(() => void create(id))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const figures = await loadOn(`http://127.0.0.1:${port}`, given, ids)
  await new Promise((resolve) => server.close(resolve))
  bare.close()
  return figures
}

/** Executes the statements with another id; returns the first row that one of them reads. */
function repeat(database: BareDatabase['database'], template: Template, what: 'create' | 'read') {
  const recorded = suffixOf(template.taskId)
  const statements = template[what].map(({ sql, values, reads }) => ({
    statement: database.prepare(sql),
    values,
    reads,
  }))
  return (id: string): unknown => {
    const suffix = suffixOf(id)
    let row: unknown
    for (const { statement, values, reads } of statements) {
      const own = values.map((value) => (typeof value === 'string' ? value.replaceAll(recorded, suffix) : value))
      if (reads) {
        const [first] = statement.all(...own)
        row ??= first
      } else statement.run(...own)
    }
    return row
  }
}

/** The part of a task's id that is also in the name of its branch. */
function suffixOf(taskId: string): string {
  return taskId.replace(/^task-/, '')
}

/** The names of branches are numbered for so many tasks of one name; those of further ones contain their ids. */
const numberedBranches = 10

const isTransaction = ({ sql }: Statement): boolean => /^(begin|commit|rollback)/.test(sql)

export const http = defineRow<Size, Given>({
  name: 'http',
  title: 'HTTP: create and read',
  method:
    'A client process with ten connections creates tasks without an executor, or reads one of a hundred. The floor is Hono on Node ' +
    'with the statements that the engine executes for such a request, in group commits. It checks neither token nor input.',
  figures: {
    rate: { label: 'requests', unit: '/s', better: 'more' },
    p50: { label: 'p50', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { requests: 10_000, concurrency: 10 },
    quick: { requests: 2_000, concurrency: 10 },
    tiny: { requests: 20, concurrency: 2 },
  },
  rounds: { full: 5, quick: 2, tiny: 1 },
  cases: (size) => (['create', 'read'] as const).map((what) => ({ name: what, given: { ...size, what } })),

  async prepare(_size, { errand, folder, packageRoot, prepared }) {
    const { createEngine } = await errand()
    const open = (ledger: string) => createEngine({ ledger, work: false })
    await (await open(schemaFile(prepared))).close()
    const engine = await open(join(folder, 'ledger.db'))
    for (let n = 0; n < numberedBranches; n++) await engine.bus.call('task:create', body)
    let taskId = ''
    const create = await recordStatements(packageRoot, async () => {
      ;({ taskId } = await engine.bus.call('task:create', body))
    })
    const read = await recordStatements(packageRoot, () => engine.bus.call('task:get', { taskId }))
    await engine.close()
    const template: Template = {
      taskId,
      create: create.filter((each) => !isTransaction(each)),
      read: read.filter((each) => !isTransaction(each)),
    }
    writeFileSync(templateFile(prepared), JSON.stringify(template))
  },

  sides: {
    errand: { durability: floorDurability, measure: serveErrand },
    floor: { durability: floorDurability, measure: serveFloor },
  },
  goals: [
    { figure: 'rate', case: 'create', as: 'ratio', atLeast: 1 / 2 },
    { figure: 'rate', case: 'read', as: 'ratio', atLeast: 1 / 2 },
  ],
})
