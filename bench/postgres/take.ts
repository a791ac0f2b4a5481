// Takes a sample: its processes work on a new database, and the CPU time of the server is measured around them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { createDatabase, type TestServer } from '../../test/postgres/server.ts'
import { median, quantile } from '../runner/statistics.ts'
import type { ChildOrder, ChildReport } from './child.ts'
import type { Figures, Order } from './sample.ts'
import { serverCpu } from './server-cpu.ts'

export interface Site {
  server: TestServer
  relay: Relay
  warmSeconds: number
  seconds: number
}

export async function take(order: Order, { server, relay, warmSeconds, seconds }: Site): Promise<Figures> {
  const url = await createDatabase(server)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const cpu = await serverCpu(client)
  const children: Child[] = []
  try {
    for (let n = 0; n < (order.processes ?? 1); n++) {
      const isIdle = order.perSecond !== undefined && n > 0
      const given = { ...order, url: order.isDistant ? relay.through(url) : url, warmSeconds, seconds, isIdle }
      children.push(startChild(`${order.program.toLowerCase()}-process.ts`, given))
      // The first one creates the tables.
      if (n === 0) await children[0]?.next()
    }
    await Promise.all(children.slice(1).map((child) => child.next()))
    const before = cpu?.()
    await Promise.all(children.map((child) => child.answer()))
    const serverMs = before === undefined ? undefined : (cpu?.() as number) - before
    const reports = (await Promise.all(children.map((child) => child.answer()))) as ChildReport[]
    const ended = children.map((child) => child.ended())
    for (const child of children) child.send()
    await Promise.all(ended)
    return figuresOf(order, reports, serverMs)
  } finally {
    for (const child of children) child.kill()
    await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
    await client.end()
  }
}

function figuresOf(order: Order, reports: readonly ChildReport[], serverMs: number | undefined): Figures {
  const sum = (of: (report: ChildReport) => number): number => reports.reduce((total, each) => total + of(each), 0)
  const tasks = sum((each) => each.tasks)
  const unitsOfTask = order.calls ?? order.agentSteps ?? 1
  const units = tasks * unitsOfTask
  const nodeCpu = sum((each) => each.cpuMs) / units
  const serverCpuMs = serverMs === undefined ? undefined : serverMs / units
  const figures = {
    rate: sum((each) => (each.tasks / each.ms) * 1_000) * unitsOfTask,
    nodeCpu,
    serverCpu: serverCpuMs,
    cpu: serverCpuMs === undefined ? undefined : nodeCpu + serverCpuMs,
  }
  // Workflows of DBOS wait behind those that were put into its queue before: their waits would mean nothing beside errand's.
  if (order.program === 'DBOS') return figures
  const waits = reports.flatMap((each) => each.waits ?? [])
  if (waits.length < tasks) throw new Error(`${waits.length} of ${tasks} tasks ran`)
  return {
    ...figures,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    statements: sum((each) => each.statements ?? 0) / units,
    roundTrips: sum((each) => each.roundTrips ?? 0) / units,
  }
}

interface Child {
  /** The next message of it. */
  next(): Promise<unknown>
  /** Lets it go on, and returns its next message. */
  answer(): Promise<unknown>
  send(): void
  ended(): Promise<unknown>
  kill(): void
}

function startChild(file: string, order: ChildOrder): Child {
  const child = forkHere(file, [JSON.stringify(order)])
  const next = async (): Promise<unknown> => {
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${file} ended with ${String(signal ?? code)}`)
    })
    return ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0]
  }
  const send = (): void => void child.send('go on')
  return {
    next,
    answer() {
      send()
      return next()
    },
    send,
    ended: () => once(child, 'exit'),
    kill: () => void child.kill('SIGKILL'),
  }
}

export interface Relay {
  /** The URL with the address of the relay. */
  through(url: string): string
  stop(): void
}

/** @param delayMs Of each direction. */
export async function startRelay(serverUrl: string, delayMs: number): Promise<Relay> {
  const { hostname, port } = new URL(serverUrl)
  const child = forkHere('relay.ts', [hostname, port === '' ? '5432' : port, String(delayMs)])
  const [relayPort] = (await once(child, 'message')) as [number]
  return {
    through(url) {
      const changed = new URL(url)
      changed.hostname = '127.0.0.1'
      changed.port = String(relayPort)
      return changed.href
    },
    stop: () => child.disconnect(),
  }
}

const forkHere = (file: string, args: string[]): ChildProcess =>
  fork(join(import.meta.dirname, file), args, {
    execArgv: ['--no-deprecation'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })

/** The median time of a bare query, in milliseconds. */
export async function roundTripMs(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const began = performance.now()
    await client.query('select 1')
    times.push(performance.now() - began)
  }
  await client.end()
  return median(times)
}
