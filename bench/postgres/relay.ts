// A process that relays connections to a PostgreSQL server and delays each direction, as a network would. It prints its port.
import { connect, createServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

const [host = '', port = '', delayMs = ''] = process.argv.slice(2)

interface Chunk {
  data: Buffer
  due: number
}

function forward(from: Socket, to: Socket): void {
  const underway: Chunk[] = []
  // One timer for all that is under way, because many timers of one millisecond would cost more than the relaying.
  const deliver = (): void => {
    // A timer counts whole milliseconds and may fire a little early.
    const now = performance.now() + 0.2
    while ((underway[0]?.due ?? Infinity) <= now) to.write((underway.shift() as Chunk).data)
    if (underway[0] !== undefined) setTimeout(deliver, underway[0].due - now)
  }
  from.setNoDelay(true)
  from.on('data', (data: Buffer) => {
    underway.push({ data, due: performance.now() + Number(delayMs) })
    if (underway.length === 1) setTimeout(deliver, Number(delayMs))
  })
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroy())
}

const server = createServer((near) => {
  const far = connect(Number(port), host)
  forward(near, far)
  forward(far, near)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port))
process.on('disconnect', () => process.exit(0))
