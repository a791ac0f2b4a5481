// The thread of an engine that renews its lease: on a connection of its own, so that no step and no work of the event loop delays it, and only
// if the event loop has turned since the last time, so that it does not outlive an engine that hangs.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock as clock } from '../../core/clock.ts'
import { messageOf } from '../../core/stored-error.ts'
import {
  beat,
  beatEveryMs,
  type EngineMessage,
  type Heartbeats,
  retryAfterMs,
  type WorkerMessage,
} from './heartbeat.ts'
import { ServerConnection } from './server-connection.ts'
import type { ServerHost } from './server-url.ts'

const port = parentPort as MessagePort
const { target, ...beats } = workerData as Heartbeats
const connection = new ServerConnection(target, {
  title: 'errand heartbeat',
  // A lease that a crash of the server sets back by a moment is soon renewed, and a commit may wait for a standby.
  settings: { statement_timeout: '10s', synchronous_commit: 'off' },
})
let timer: unknown
let beating: Promise<void> = Promise.resolve()
let hasEnded = false

const send = (message: WorkerMessage): void => port.postMessage(message)
const ask = (): void => send('does it turn?')

async function renew(turnsAt: number): Promise<void> {
  const since = clock.now()
  const failure = await beat(connection, beats, clock).then(() => undefined, messageOf)
  // The server may be another one by now, or the network may have lost the connection without a sign.
  if (failure !== undefined) connection.drop()
  else Atomics.store(beats.renewedAt, 0, BigInt(Math.floor(turnsAt)))
  if (hasEnded) return
  send({ failure })
  const { leaseMs } = beats
  const restMs = failure === undefined ? beatEveryMs(leaseMs) - (clock.now() - since) : retryAfterMs(leaseMs)
  timer = clock.setTimeout(() => {
    timer = undefined
    ask()
  }, restMs)
}

async function end(): Promise<void> {
  hasEnded = true
  clock.clearTimeout(timer)
  await beating
  await connection.close()
  // Nothing else keeps the thread, so it ends. (Deno has no `close` here.)
  port.unref()
}

function reconnect(host: ServerHost | undefined): void {
  if (host !== undefined) connection.firstHost = () => host
  connection.drop()
  askNow()
}

/** Unless a heartbeat is under way, or about to be. */
function askNow(): void {
  if (timer === undefined || hasEnded) return
  clock.clearTimeout(timer)
  timer = undefined
  ask()
}

port.on('message', (message: EngineMessage) => {
  if (message === 'end') void end()
  else if (message === 'beat now') askNow()
  else if ('reconnect' in message) reconnect(message.reconnect)
  else if (!hasEnded) beating = renew(message.turnsAt)
})
ask()
