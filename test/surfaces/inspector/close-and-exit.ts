// A program that inspects its engine with a receiver and another program connected, closes everything, and then has nothing that keeps its
// process alive.
import { on, once } from 'node:events'
import { createWebSocketInspector } from '@statelyai/inspect'
import { WebSocket } from 'ws'
import { createEngine } from '../../../src/index.ts'
import { serveInspector } from '../../../src/surfaces/inspector/serve-inspector.ts'

const engine = await createEngine({ executors: { work: () => null } })
const server = await serveInspector(engine, { tasks: 'all' })
const receiver = new WebSocket(server.url)
await once(receiver, 'message')
const inspector = createWebSocketInspector({ url: server.url })
const detach = engine.inspect(inspector.inspect)
await engine.result(await engine.create({ executor: 'work' }))
// An inspector that is stopped before it is connected would reconnect forever.
for await (const [data] of on(receiver, 'message')) if (String(data).includes('program-1/')) break
detach()
inspector.stop()
await server.close()
await engine.close()
console.log('closed')
