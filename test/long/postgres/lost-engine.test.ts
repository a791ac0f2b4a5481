// What engines that only read a ledger on a server say of the task of an engine that has died, or that hangs, on their host.
import { expect, it } from 'vitest'
import { openSecond, startLifeProcess } from '../../postgres/life.ts'
import { createLedger, type TestServer, testServer } from '../../postgres/server.ts'

const server = (await testServer()) as TestServer
const leaseMs = 60_000

it.skipIf(server === undefined)(
  'the task of a killed engine on a PostgreSQL server is interrupted long before its lease ends, and that of a stopped one runs',
  async () => {
    const url = await createLedger(server)
    const first = startLifeProcess({ ledger: url, leaseMs })
    await first.lineWith('ready')
    const { engine, create } = await openSecond(url, leaseMs)
    const { id } = await create('stay')
    await first.lineWith('inside')
    first.signal('SIGSTOP')
    expect(await engine.why(id)).toMatchObject({ reason: 'running' })
    first.signal('SIGKILL')
    // The lock is free when the server has noticed the end of the connection.
    await expect.poll(async () => (await engine.why(id)).reason).toBe('lost')
    // A command has one look.
    const reader = await openSecond(url, leaseMs)
    expect(await reader.engine.get(id)).toMatchObject({ status: 'working', statusReason: 'interrupted' })
  },
)
