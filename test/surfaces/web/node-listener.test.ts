// What stands between node:http and functions from requests to responses, over real sockets: nothing is lost on the way, neither side
// can block the other forever, and connections that wait too long are closed.
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Answer } from '../../../src/surfaces/web/answer.ts'
import {
  type FetchFunction,
  listen,
  type NodeListenerOptions,
  nodeListener,
  type ServerLimits,
  toNodeListener,
} from '../../../src/surfaces/web/node-server.ts'
import type { ServedRequest } from '../../../src/surfaces/web/served-request.ts'
import { SimulatedClock } from '../../../src/testing/simulated-clock.ts'
import { deferred } from '../../engine/world.ts'

interface World {
  url: string
  port: number
  errors: unknown[]
  close: () => Promise<void>
}

async function serve(
  fetch: FetchFunction,
  options: NodeListenerOptions = {},
  limits: ServerLimits = {},
): Promise<World> {
  const errors: unknown[] = []
  const server = await listen({
    listener: () => toNodeListener(fetch, (error) => errors.push(error), options),
    limits: { closeGraceMs: 0, ...limits },
  })
  onTestFinished(() => server.close())
  return { url: server.url, port: server.port, errors, close: () => server.close() }
}

/** A server that gives each request the same answer. */
async function serveAnswer(answer: Answer, onRequest: (request: ServedRequest) => void = () => {}) {
  const server = await listen({
    listener: () =>
      nodeListener(
        (request) => {
          onRequest(request)
          return answer
        },
        () => {},
      ),
    limits: { closeGraceMs: 0 },
  })
  onTestFinished(() => server.close())
  return server
}

/** A connection by hand, from an address of this machine; what it says is written as it is. */
async function open(port: number, said: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  // One that is cut off is not an error of the test's.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(said)
  return socket
}

/** Resolves to all that came when it has ended, however it ended. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let all = ''
    socket.on('data', (chunk) => (all += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => resolve(all))
  })
}

const head = (line: string, ...headers: string[]) => [`${line} HTTP/1.1`, 'host: test', ...headers, '', ''].join('\r\n')

describe('A request through the node listener', () => {
  const mirrored: FetchFunction = async (request, { address }) =>
    Response.json({
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
      address,
    })

  it('a request through the node listener has its method, path, headers, body and peer address', async () => {
    const { url, port } = await serve(mirrored)
    const response = await fetch(`${url}/a/b?c=d%2Fe`, { method: 'PUT', headers: { 'x-one': '1' }, body: 'ümlaut' })
    expect(await response.json()).toEqual({
      method: 'PUT',
      url: `http://127.0.0.1:${port}/a/b?c=d%2Fe`,
      headers: expect.objectContaining({ 'x-one': '1', host: `127.0.0.1:${port}` }) as object,
      body: 'ümlaut',
      address: '127.0.0.1',
    })
  })

  it.each([
    ['//evil.example/x', 'http://test//evil.example/x'],
    ['http://evil.example/x?y', 'http://test/x?y'],
    ['*', 'http://test/'],
    ['/a/../b', 'http://test/b'],
    ['/a/..%2fb', 'http://test/a/..%2fb'],
    ['/%zz', 'http://test/%zz'],
  ])('a request for %s reaches no other host through the node listener', async (path, url) => {
    const { port } = await serve(mirrored)
    const socket = await open(port, head(`OPTIONS ${path}`, 'connection: close'))
    expect(await received(socket)).toContain(`"url":"${url}"`)
  })

  it('a request through the node listener with a Host that forms no URL gets localhost as its URL and keeps its header', async () => {
    const { port } = await serve(mirrored)
    const socket = await open(port, 'GET / HTTP/1.1\r\nhost: a b/c@d\r\nconnection: close\r\n\r\n')
    const answer = await received(socket)
    expect(answer).toContain('"url":"http://localhost/"')
    expect(answer).toContain('"host":"a b/c@d"')
  })

  it('a request through the node listener aborts when its client disconnects', async () => {
    const aborted = deferred()
    const begun = deferred()
    const { port, errors } = await serve(async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      await aborted.promise
      return new Response('too late')
    })
    const socket = await open(port, head('GET /'))
    await begun.promise
    socket.destroy()
    await aborted.promise
    expect(errors).toEqual([])
  })

  it('a request through the node listener does not abort when it has been answered', async () => {
    const signals: AbortSignal[] = []
    const { url } = await serve(({ signal }) => {
      signals.push(signal)
      return new Response('done')
    })
    expect(await (await fetch(url)).text()).toBe('done')
    // The first one has been closed by now: the second is on the same connection.
    expect(await (await fetch(url)).text()).toBe('done')
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  })

  it('a request through the node listener with the method TRACE is answered with 501 and not reported', async () => {
    const { port, errors } = await serve(() => new Response('asked'))
    const socket = await open(port, head('TRACE /', 'connection: close'))
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 501 /)
    expect(errors).toEqual([])
  })

  it('a request through the node listener rejects the reader of its body if the client disconnects', async () => {
    const outcome = deferred<unknown>()
    const { port } = await serve(async (request) => {
      outcome.resolve(await request.text().catch((error: unknown) => error))
      return new Response()
    })
    const socket = await open(port, head('POST /', 'content-length: 10'))
    socket.write('half')
    socket.end()
    expect(await outcome.promise).toBeInstanceOf(Error)
  })

  it('a request whose client left before the node listener received it rejects the reader of its body', async () => {
    const outcome = deferred<unknown>()
    const listener = toNodeListener(
      async (request) => {
        outcome.resolve(await request.text().catch((error: unknown) => error))
        return new Response()
      },
      () => {},
    )
    // As behind an asynchronous middleware.
    const server = createServer((request, response) => {
      request.once('close', () => setImmediate(() => listener(request, response)))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const socket = await open((server.address() as AddressInfo).port, head('POST /', 'content-length: 10'))
    socket.write('half')
    socket.destroy()
    expect(await outcome.promise).toBeInstanceOf(Error)
  })

  it('a request through the node listener is read no faster than its body is consumed', async () => {
    const reading = deferred<ReadableStreamDefaultReader<Uint8Array>>()
    const over = deferred()
    const { port } = await serve(async (request) => {
      reading.resolve((request.body as ReadableStream<Uint8Array>).getReader())
      await over.promise
      return new Response()
    })
    const size = 64 * 1024 * 1024
    const socket = await open(port, head('POST /', `content-length: ${size}`))
    const piece = Buffer.alloc(1024 * 1024)
    const reader = await reading.promise
    let pieces = 1
    while (pieces * piece.length < size && socket.write(piece)) pieces++
    // What stands in the way is the reader, and it alone.
    expect(pieces * piece.length).toBeLessThan(size)
    const drained = once(socket, 'drain')
    let taken = 0
    while (taken < pieces * piece.length) taken += (await reader.read()).value?.byteLength ?? 0
    await drained
    expect(taken).toBe(pieces * piece.length)
    over.resolve()
  })
})

describe('A response through the node listener', () => {
  it('a response through the node listener is sent with its status, headers and cookies, and without hop-by-hop headers', async () => {
    const { url } = await serve(() => {
      const headers = new Headers({ 'x-one': '1', connection: 'close', 'content-type': 'text/plain' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response('said', { status: 201, headers })
    })
    const response = await fetch(url)
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 201, text: 'said' })
    expect(response.headers.get('x-one')).toBe('1')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('connection')).toBe('keep-alive')
  })

  it('a response of the node listener to HEAD has no body, and its stream is canceled', async () => {
    const canceled = deferred()
    const { url } = await serve(() => new Response(new ReadableStream({ cancel: () => canceled.resolve() })))
    const response = await fetch(url, { method: 'HEAD' })
    expect(await response.text()).toBe('')
    await canceled.promise
  })

  it('a response of the node listener is a 500 without details when the handler throws, and the error is reported', async () => {
    const { url, errors } = await serve(() => {
      throw new Error('the secret of the house')
    })
    const response = await fetch(url)
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 500, text: 'Internal error.' })
    expect(errors).toEqual([new Error('the secret of the house')])
  })

  it('a response whose body fails closes the connection, and the error is reported', async () => {
    const { url, errors } = await serve(
      () =>
        new Response(
          new ReadableStream(
            {
              pull(controller) {
                if (controller.desiredSize === 1) controller.enqueue(new Uint8Array(10))
                else controller.error(new Error('broken'))
              },
            },
            { highWaterMark: 2 },
          ),
        ),
    )
    const response = await fetch(url)
    await expect(response.text()).rejects.toThrow()
    expect(errors).toEqual([new Error('broken')])
  })

  it('a response through the node listener of many megabytes arrives in full', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, 'abcdefghij')
    const { url } = await serve(() => new Response(bytes))
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('an answer is sent in one piece with its head, and makes no Request of its request', async () => {
    const requests: ServedRequest[] = []
    const answer = { status: 200, headers: { 'set-cookie': ['a=1', 'b=2'] }, body: 'ümlaut' }
    const { port } = await serveAnswer(answer, (request) => requests.push(request))
    const socket = await open(port, head('GET /a?b=c', 'x-one: 1', 'connection: close'))
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*set-cookie: a=1\r\nset-cookie: b=2\r\n[\s\S]*\r\n\r\nümlaut$/,
    )
    expect(first.toString()).toContain('content-length: 7')
    const [request] = requests as [ServedRequest]
    expect([request.url.pathname, request.headers.get('x-one'), request.headers.has('x-two')]).toEqual([
      '/a',
      '1',
      false,
    ])
    expect(request.toRequest().url).toBe('http://test/a?b=c')
  })

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with the status %i has no body, even if the answer has one', async (method, status) => {
    const { port } = await serveAnswer({ status, headers: {}, body: method === 'HEAD' ? 'done' : null })
    const socket = await open(port, head(`${method} /`, 'connection: close'))
    expect(await received(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^\0]*\r\n\r\n$`))
  })

  it('an answer of many megabytes arrives in full', async () => {
    const body = 'äbcdefghi'.repeat(2 * 1024 * 1024)
    const { port } = await serveAnswer({ status: 200, headers: {}, body })
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe(body)
  })

  /** A stream without an end, and how much of it has been asked for. */
  function endless() {
    let made = 0
    const canceled = deferred()
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          made += 64 * 1024
          controller.enqueue(new Uint8Array(64 * 1024))
          // A turn of the loop, in which the client could take it.
          await new Promise((resolve) => setImmediate(resolve))
        },
        cancel: () => canceled.resolve(),
      },
      { highWaterMark: 0 },
    )
    return { body, made: () => made, canceled: canceled.promise }
  }

  it('a response through the node listener is produced no faster than its client reads, and a client that does not read is disconnected', async () => {
    const clock = new SimulatedClock()
    const stream = endless()
    const { port, errors } = await serve(() => new Response(stream.body), { clock, stallMs: 30_000 })
    const socket = await open(port, head('GET /'))
    socket.pause()
    let before = -1
    // Until the system's buffers are full.
    while (before !== stream.made()) {
      before = stream.made()
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(64 * 1024 * 1024)
    clock.increment(29_999)
    expect(stream.made()).toBe(before)
    const closed = received(socket)
    clock.increment(1)
    await stream.canceled
    socket.resume()
    await closed
    expect(errors).toEqual([])
  })

  it('a response through the node listener is canceled when its client disconnects', async () => {
    const stream = endless()
    const { port } = await serve(() => new Response(stream.body))
    const socket = await open(port, head('GET /'))
    await once(socket, 'data')
    socket.destroy()
    await stream.canceled
  })

  it('a response through the node listener reaches a client that is still sending its request, and the connection can be reused', async () => {
    const { port, errors } = await serve(() => new Response('no', { status: 413 }))
    const size = 10 * 1024 * 1024
    const socket = await open(port, head('POST /', `content-length: ${size}`))
    socket.write(Buffer.alloc(size))
    socket.write(head('GET /second', 'connection: close'))
    const answers = await received(socket)
    expect(answers.match(/HTTP\/1\.1 413/g)).toHaveLength(2)
    expect(errors).toEqual([])
  })

  it('a response through the node listener ends an endless request after a while', async () => {
    const clock = new SimulatedClock()
    const { port } = await serve(() => new Response('no', { status: 413 }), { clock, lingerMs: 1_000 })
    const socket = await open(port, head('POST /', 'transfer-encoding: chunked'))
    const closed = received(socket)
    await once(socket, 'data')
    socket.write('5\r\nagain\r\n')
    clock.increment(1_000)
    expect(await closed).toContain('413')
  })
})

describe('The node server', () => {
  it('the node server completes responses in progress and closes endless streams when it closes', async () => {
    const begun = deferred()
    const go = deferred()
    const server = await listen({
      listener: () =>
        toNodeListener(
          async ({ url }) => {
            if (url.endsWith('/stream')) return new Response(new ReadableStream({}))
            begun.resolve()
            await go.promise
            return new Response('done')
          },
          () => {},
        ),
      limits: { closeGraceMs: 60_000 },
    })
    const answer = fetch(server.url).then((response) => response.text())
    await begun.promise
    const closing = server.close(async () => go.resolve())
    expect(await answer).toBe('done')
    await closing
    await expect(fetch(server.url)).rejects.toThrow('fetch failed')

    const other = await listen({
      listener: () =>
        toNodeListener(
          () => new Response(new ReadableStream({})),
          () => {},
        ),
      limits: { closeGraceMs: 0 },
    })
    const [response] = (await once(httpRequest(other.url).end(), 'response')) as [IncomingMessage]
    const ended = text(response).catch((error: Error) => error.message)
    await other.close()
    expect(await ended).toBe('aborted')
  })

  it('the node server closes connections that send nothing, or not enough, in time', async () => {
    const echo: FetchFunction = async (request) => new Response(await request.text().catch(() => 'broken off'))
    const { port } = await serve(echo, {}, { headersTimeoutMs: 200, requestTimeoutMs: 400, keepAliveMs: 200 })
    const [silent, slow, endless, idle] = await Promise.all([
      received(await open(port, '')),
      received(await open(port, 'GET / HTTP/1.1\r\nhost: test\r\nx-slow: ')),
      received(await open(port, `${head('POST /', 'content-length: 10')}half`)),
      received(await open(port, head('GET /'))),
    ])
    expect(silent).toMatch(/^$|^HTTP\/1.1 408/)
    expect(slow).toMatch(/^HTTP\/1.1 408/)
    expect(endless).toMatch(/^HTTP\/1.1 408/)
    expect(idle).toMatch(/^HTTP\/1.1 200/)
  })
})

/** Addresses of this machine, as if its clients were on several. */
const [first, second, third] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const

describe('The connections of the node server', () => {
  /** Answers when it may. */
  function slow(count: number) {
    const begun = Array.from({ length: count }, () => deferred())
    const go = deferred()
    let asked = 0
    const fetch: FetchFunction = async () => {
      begun[asked++]?.resolve()
      await go.promise
      return new Response('done')
    }
    return { fetch, begun: Promise.all(begun.map(({ promise }) => promise)), go }
  }

  const get = head('GET /', 'connection: close')

  it('V-09 the connections of the node server that are idle are closed for new ones: oldest first', async () => {
    const { port } = await serve(() => new Response('hello'), {}, { connections: 2 })
    const silent = await open(port, '')
    const half = await open(port, 'GET / HTTP/1.1\r\nhost: test\r\n')
    const cut = received(silent)
    expect(await received(await open(port, get))).toContain('hello')
    expect(await cut).toBe('')
    half.write('\r\n')
    const [answer] = (await once(half, 'data')) as [Buffer]
    expect(answer.toString()).toContain('hello')
    half.destroy()
  })

  it('the connections of the node server that are busy are kept, and a connection beyond the limit is closed', async () => {
    const { fetch, begun, go } = slow(2)
    const { port } = await serve(fetch, {}, { connections: 2 })
    const answers = [received(await open(port, get)), received(await open(port, get))]
    await begun
    expect(await received(await open(port, get))).toBe('')
    go.resolve()
    expect((await Promise.all(answers)).map((answer) => answer.includes('done'))).toEqual([true, true])
  })

  it('the connections of the node server are idle again after their responses', async () => {
    const { port } = await serve(() => new Response('hello'), {}, { connections: 1 })
    const kept = await open(port, head('GET /'))
    const closed = received(kept)
    await once(kept, 'data')
    expect(await received(await open(port, get))).toContain('hello')
    await closed
  })

  it.runIf(process.platform === 'linux')(
    'V-09 the connections of the node server are taken from the address that has most idle ones, and no address has more than its own',
    async () => {
      const { port } = await serve(() => new Response('hello'), {}, { connections: 4, connectionsPerAddress: 3 })
      const patient = await open(port, '', second)
      const greedy = [await open(port, ''), await open(port, ''), await open(port, '')]
      const [oldest, next] = greedy.map(received)
      expect(await received(await open(port, get, third))).toContain('hello')
      expect(await oldest).toBe('')
      const [more, beyond] = [await open(port, '', first), await open(port, '', first)]
      expect(await next).toBe('')
      const answered = received(patient)
      patient.write(get)
      expect(await answered).toContain('hello')
      for (const socket of [...greedy, more, beyond]) socket.destroy()
    },
  )

  it.runIf(process.platform === 'linux')(
    'V-09 the connections of the node server of one address are bounded though all of them are used, and others have theirs',
    async () => {
      const { fetch, begun, go } = slow(3)
      const { port } = await serve(fetch, {}, { connectionsPerAddress: 2 })
      const answers = [received(await open(port, get)), received(await open(port, get))]
      const other = received(await open(port, get, second))
      await begun
      expect(await received(await open(port, get))).toBe('')
      go.resolve()
      expect((await Promise.all([...answers, other])).every((answer) => answer.includes('done'))).toBe(true)
    },
  )
})
