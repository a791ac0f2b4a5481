// A connection pool (PgBouncer) before a server, for tests: each transaction may be in another session of the server. Debian's package is installed
// for it in CI; elsewhere tests without it are skipped, and say so.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { accepting, freePort, install, serverUser } from './server.ts'

export interface TestPool {
  /** The URL of a database through the pool, which also names its server. */
  urlOf(url: string): string
  /** Leads to another server from now on. */
  leadTo(url: string): void
  /** Keeps all connections, and answers nothing until it is resumed. */
  hang(): void
  resume(): void
  /** Ends the pool and its connections at once, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Sessions of the server for each database: fewer than those of two engines, so that they are shared. */
const poolSize = 3

/** Undefined without the program, outside of CI only. */
export async function startPool(server: string): Promise<TestPool | undefined> {
  if (foundProgram() === undefined && process.env['CI']) install('pgbouncer')
  const program = foundProgram()
  if (program === undefined) {
    console.warn('\nSKIPPED: the tests behind a connection pool, because pgbouncer was not found. Install it.\n')
    return undefined
  }
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'errand-pool-'))
  const file = (name: string) => join(folder, name)
  const port = await freePort()
  const configure = (url: string) => writeFileSync(file('pool.ini'), configuration(new URL(url), port, file))
  configure(server)
  writeFileSync(file('users'), '"postgres" ""\n')
  chmodSync(folder, 0o755)
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid as number)
  let child: ChildProcess
  const start = async () => {
    // It ends when this process closes its end of the pipe, as the servers do.
    const untilInputEnds = '"$@" </dev/null & pool=$!; cat >/dev/null; kill -KILL $pool; wait $pool'
    const command = ['-c', untilInputEnds, 'sh', program, '-q', file('pool.ini')]
    child = spawn('sh', command, { ...user, stdio: ['pipe', 'ignore', 'ignore'] })
    await accepting(`postgres://postgres@127.0.0.1:${port}/postgres`, child)
  }
  const signal = (name: NodeJS.Signals) => void process.kill(Number(readFileSync(file('pid'), 'utf8')), name)
  const end = async () => {
    child.stdin?.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  await start()
  return {
    urlOf(url) {
      // Several hosts are no URL for Node.
      const [, user = '', hosts = '', rest = ''] = /^(postgres:\/\/[^@]*@)([^/]*)(.*)$/.exec(url) ?? []
      return `${user}127.0.0.1:${port}${rest}${rest.includes('?') ? '&' : '?'}direct=${hosts}`
    },
    leadTo(url) {
      configure(url)
      signal('SIGHUP')
    },
    hang: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async restart() {
      await end()
      await start()
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function foundProgram(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path))
}

function configuration({ hostname, port }: URL, listenPort: number, file: (name: string) => string): string {
  return `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = trust
auth_file = ${file('users')}
pidfile = ${file('pid')}
pool_mode = transaction
default_pool_size = ${poolSize}
server_login_retry = 0.1
`
}
