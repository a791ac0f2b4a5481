// The services of examples/cluster as processes of this host, with the commands, the variables and the roles of its compose file: what Docker
// would do, except for the images and the network.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { adminOf } from '../../postgres/life.ts'
import { createDatabase, query, type TestServer, testServer } from '../../postgres/server.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'examples/cluster')
const server = (await testServer()) as TestServer
const token = 't'.repeat(64)

interface Service {
  command: string[]
  environment: Record<string, string>
}

const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<'migration' | 'engine-1' | 'engine-2' | 'page', Service>
}

/** The roles of a cluster are those of all databases of a server. */
async function createRoles(database: URL): Promise<void> {
  await query(server, 'drop role if exists errand_owner, errand_engine')
  execFileSync('sh', [join(folder, 'roles.sh')], {
    env: {
      PATH: process.env['PATH'],
      PGHOST: database.hostname,
      PGPORT: database.port,
      PGUSER: 'postgres',
      PGDATABASE: database.pathname.slice(1),
      OWNER_PASSWORD: `it's`,
      ENGINE_PASSWORD: 'secret',
    },
    stdio: 'pipe',
  })
}

/** The variables of a service, with the address of the test's server. */
function variablesOf({ environment }: Service, database: URL): NodeJS.ProcessEnv {
  const ledger = new URL(environment['ERRAND_LEDGER'] as string)
  expect(ledger.searchParams.get('sslmode')).toBe('require')
  ledger.searchParams.delete('sslmode')
  for (const [name, value] of database.searchParams) ledger.searchParams.set(name, value)
  ledger.host = database.host
  ledger.pathname = database.pathname
  return { ...process.env, ...environment, ERRAND_LEDGER: ledger.href, ERRAND_TOKEN: token }
}

function run(command: readonly string[], env: NodeJS.ProcessEnv) {
  const [, ...args] = command
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString()
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const lines: string[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const listen of listeners) listen()
  })
  const lineOf = (text: RegExp) =>
    new Promise<string>((resolve) => {
      const look = () => {
        const found = lines.find((line) => text.test(line))
        if (found !== undefined) resolve(found)
      }
      listeners.add(look)
      look()
    })
  return { child, lineOf, complaints: () => complaints }
}

describe.skipIf(server === undefined)('the example of a cluster', () => {
  it('sends each letter once, by the other engine when one is killed, and the page shows the task', async () => {
    const database = new URL(await createDatabase(server))
    await createRoles(database)
    const engineVariables = variablesOf(services['engine-1'], database)
    const early = run(services['engine-1'].command, engineVariables)
    await once(early.child, 'close')
    expect(early.complaints()).toMatch(/open it once as the owner of the schema/)

    const migration = run(services.migration.command, variablesOf(services.migration, database))
    await once(migration.child, 'close')
    expect(migration.complaints()).toBe('')
    const engines = (['engine-1', 'engine-2'] as const).map((name) => run(services[name].command, engineVariables))
    const page = run([...services.page.command, '--port', '0'], variablesOf(services.page, database))
    await Promise.all([...engines.map(({ lineOf }) => lineOf(/is working/)), page.lineOf(/http:/)])

    const letters = ['--executor', 'letters', '--input', '{ "to": ["Ada", "Ben", "Cleo"] }', '--key', 'invitations']
    execFileSync(process.execPath, ['dist/bin.js', 'add', 'Invitations', ...letters], {
      cwd: root,
      env: engineVariables,
      stdio: 'pipe',
    })
    const [first] = await Promise.race(
      engines.map(async (engine) => {
        await engine.lineOf(/letter to Ada/)
        return [engine] as const
      }),
    )
    first.child.kill('SIGKILL')
    const [second] = engines.filter((engine) => engine !== first) as [(typeof engines)[number]]
    await second.lineOf(/letter to Cleo/)

    const { port } = new URL(await page.lineOf(/^http:/))
    const reply = await once(
      get({ port, path: '/tasks', headers: { host: 'localhost:4711', authorization: `Bearer ${token}` } }),
      'response',
    )
    expect(await json(reply[0])).toMatchObject({ tasks: [{ name: 'Invitations' }] })

    const client = await adminOf(database.href)
    const calls = `select params::jsonb ->> 'to' as name, status from errand.call where kind = 'call' order by seq`
    await expect
      .poll(async () => (await client.query('select status from errand.task')).rows)
      .toEqual([{ status: 'completed' }])
    const { rows } = await client.query(calls)
    expect(rows.filter(({ status }) => status === 'completed').map(({ name }) => name)).toEqual(['Ada', 'Ben', 'Cleo'])
    await client.query('set role errand_engine')
    await expect(client.query('create table errand.mine (id integer)')).rejects.toThrow(/permission denied/)
    await expect(client.query('drop table errand.purging')).rejects.toThrow(/must be owner/)
  })
})
