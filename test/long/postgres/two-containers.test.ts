// Two containers with the name of one host (a shared network, a fixed name) use one PostgreSQL server. A pid of the one says nothing in the
// other.
import { expect, it } from 'vitest'
import { adminOf, openSecond, startLifeProcess } from '../../postgres/life.ts'
import { createLedger, type TestServer, testServer } from '../../postgres/server.ts'
import { hasContainers } from '../engine/two-containers.ts'

const server = (await testServer()) as TestServer

/** A PID namespace whose next pid is one that no process has here. */
const container = 'unshare --pid --fork --kill-child --mount-proc sh -c'
  .split(' ')
  .concat(['echo $(($(cat /proc/sys/kernel/pid_max) - 500)) > /proc/sys/kernel/ns_last_pid; "$@"; exit 0', 'sh'])

it.skipIf(server === undefined || !hasContainers)(
  'an engine whose session is cut while it computes is not taken for dead by an engine in another container of its host',
  async () => {
    const url = await createLedger(server)
    const first = startLifeProcess({ ledger: url, leaseMs: 30_000, busy: { ms: 1_200, times: 1 } }, container)
    await first.lineWith('ready')
    const second = await openSecond(url, 30_000)
    const task = await second.create('busy')
    await first.lineWith('inside')
    await second.engine.work()
    const admin = await adminOf(url)
    const { rows } = await admin.query(
      `select pg_terminate_backend(pid) from (select pid from pg_locks join pg_stat_activity activity using (pid)
       where locktype = 'advisory' and objsubid = 2 and granted order by activity.backend_start limit 1) as oldest`,
    )
    expect(rows).toHaveLength(1)
    expect(await first.lineWith('over')).toMatchObject({ aborted: false })
    expect(await second.engine.result(task)).toBe('first')
  },
)
