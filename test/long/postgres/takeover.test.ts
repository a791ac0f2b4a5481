// How long it takes until another engine goes on with the runs of one that died, hangs, or has vanished, with engines in processes of their own.
// It takes some time, so this runs with `npm run test:postgres` only.
import { afterAll, expect, it } from 'vitest'
import { openSecond, startLifeProcess } from '../../postgres/life.ts'
import { type Network, openNetwork } from '../../postgres/network.ts'
import { createDatabase, startServer, type TestServer } from '../../postgres/server.ts'
import { isFull } from '../full.ts'

const isOffered = isFull && process.env['ERRAND_PG_URL'] === undefined
const network = isOffered ? openNetwork(1) : undefined
const server = (network === undefined ? undefined : await startServer({ network: true })) as TestServer
afterAll(() => network?.close())

const leaseMs = 5_000
/** A process elsewhere is dead once its session has been gone for so long. */
const graceMs = 2_000
/** What a look at other engines, the steps that follow from it and a busy machine take off a time. */
const slackMs = 1_000

/** The command that starts another one on what looks like another host: with a network and a name of its own. */
const elsewhere = () => [
  ...(network as Network).within(0),
  'unshare',
  '--uts',
  'sh',
  '-c',
  'hostname elsewhere && exec "$@"',
  'sh',
]

/** An engine in a process of its own is inside a run, and another one works too. */
async function setup(host: 'this host' | 'another host') {
  const url = await createDatabase(server)
  const own = new URL(url)
  if (host === 'another host') {
    own.hostname = (network as Network).addressOf(0)
    own.searchParams.set('sslmode', 'require')
  }
  const first = startLifeProcess({ ledger: own.href, leaseMs }, host === 'another host' ? elsewhere() : [])
  await first.lineWith('ready')
  const second = await openSecond(url, leaseMs)
  const task = await second.create('stay')
  await first.lineWith('inside')
  await second.engine.work()
  const since = (fault: () => void) => {
    const begun = Date.now()
    fault()
    return second.takenOver(task).then((at) => at - begun)
  }
  return { first, second, task, since }
}

const cases = [
  ['a process that was killed on the same host', 'this host', 'SIGKILL', 0],
  ['a process that was killed on another host', 'another host', 'SIGKILL', graceMs],
  ['a process that hangs on the same host', 'this host', 'SIGSTOP', (leaseMs * 2) / 3 - slackMs],
  ['a process that hangs on another host', 'another host', 'SIGSTOP', (leaseMs * 2) / 3 - slackMs],
] as const

it.skipIf(network === undefined).each(cases)('%s is taken over, and not early', async (_what, host, signal, minMs) => {
  const { first, second, task, since } = await setup(host)
  const tookMs = await since(() => first.signal(signal))
  console.log(`${_what}: taken over after ${tookMs} ms, with a lease of ${leaseMs} ms`)
  expect(tookMs).toBeGreaterThanOrEqual(minMs)
  expect(await second.engine.result(task)).toBe('second')
})

it.skipIf(network === undefined)(
  'an engine whose host has vanished ends its run itself, and then it is taken over',
  async () => {
    const { first, second, task, since } = await setup('another host')
    const aborted = first.lineWith('aborted')
    let cutAt = 0
    const tookMs = await since(() => {
      cutAt = Date.now()
      network?.cut(0)
    })
    const abortedMs = (await aborted).at - cutAt
    console.log(`a host that vanished: its run ended after ${abortedMs} ms and was taken over after ${tookMs} ms`)
    expect(abortedMs).toBeLessThan(tookMs)
    expect(tookMs).toBeGreaterThan((leaseMs * 2) / 3 - slackMs)
    expect(await second.engine.result(task)).toBe('second')
    network?.mend(0)
  },
)
