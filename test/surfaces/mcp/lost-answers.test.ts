// Answers that do not reach the agent: it has aborted its request, or is gone. What the call took for it is given back.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBoardSession } from '../../../src/board/board-session.ts'
import { type McpOptions, mcpFetchHandler, serveMcpHttp } from '../../../src/surfaces/mcp/index.ts'
import { deferred, openEngine, turns } from '../../engine/world.ts'
import { allTools } from './all-tools.ts'
import { connectByHand, connectHttp, eras, modernRequest, replyOf, requestOf, token } from './world.ts'

type Call = { agent: string; abilityId: string; input: unknown }
type Hook = (call: Call) => unknown

/** Sessions in which the test sees when a call begins, and let it act between the end of a call and its answer. */
function watchedSessions(hooks: { begins?: Hook; ends?: Hook; settles?: Hook }): NonNullable<McpOptions['session']> {
  return (agent, { bus }) => {
    const session = createBoardSession({ bus, as: agent, surface: 'mcp' })
    return {
      close: () => session.close(),
      async call(abilityId, input, options) {
        const call = { agent, abilityId, input }
        try {
          const work = session.call(abilityId, input, options)
          hooks.begins?.(call)
          const output = await work
          await hooks.ends?.(call)
          return output
        } finally {
          hooks.settles?.(call)
        }
      },
    }
  }
}

const withdrawal = (requestId: string | number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
})

/** A client that agrees on a version with the server. */
async function connectNegotiating(url: string, headers: Record<string, string>) {
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return {
    call: (name: string, input: object, options: { signal: AbortSignal }) =>
      client.callTool({ name, arguments: { ...input } }, options),
  }
}

const clients = [
  { name: 'that agrees on a version', connect: connectNegotiating },
  ...eras.map((era) => ({
    name: `of the ${era} era`,
    connect: (url: string, headers: Record<string, string>) => connectHttp(era, url, headers),
  })),
]

describe.each(clients)('An agent with a client $name over HTTP', ({ connect }) => {
  it('that aborts a wait gets no task and loses no mail', async () => {
    const engine = await openEngine()
    const [begun, ended] = [deferred(), deferred()]
    const session = watchedSessions({ begins: () => begun.resolve(), settles: () => ended.resolve() })
    const server = await serveMcpHttp(engine, { token, abilities: allTools, session, maxWaitMs: 600_000 })
    onTestFinished(() => server.close())
    const client = await connect(server.url, { 'x-errand-agent': 'ada' })
    const stop = new AbortController()
    const wait = client.call('board_wait', { timeoutMs: 600_000 }, { signal: stop.signal })
    await begun.promise
    stop.abort()
    await expect(wait).rejects.toThrow()
    await ended.promise
    await engine.bus.call('board:create', { subject: 'Write' })
    await engine.bus.call('board:send', { as: 'lead', to: 'ada', body: 'Stop' })
    await turns()
    expect((await engine.bus.call('board:get', { id: 1 })).task).toMatchObject({ status: 'pending', owner: '' })
    expect((await engine.bus.call('board:inbox', { as: 'ada' })).mail).toMatchObject([{ body: 'Stop' }])
  })
})

type Handler = ReturnType<typeof mcpFetchHandler>

function callOf(name: string, args: object = {}, id: number = 1) {
  return { ...modernRequest('tools/call', { name, arguments: args }), id }
}

async function openHandler(session: McpOptions['session']) {
  const engine = await openEngine()
  const handler = mcpFetchHandler(engine, { token, abilities: allTools, ...(session === undefined ? {} : { session }) })
  onTestFinished(() => handler.close())
  const send = (message: object, agent = 'ada', init: RequestInit = {}) =>
    handler(requestOf(message, { 'x-errand-agent': agent }, init))
  const answer = async (message: object, agent?: string) => {
    const { result } = await replyOf(await send(message, agent))
    return result?.['structuredContent'] as Record<string, any>
  }
  return { engine, handler, send, answer }
}

const takers = [
  { tool: 'board_claim_next', args: {} },
  { tool: 'board_claim', args: { id: 1 } },
  { tool: 'board_wait', args: {} },
  { tool: 'board_inbox', args: {} },
]

/** How an answer gets lost after its call has ended. */
const losses = {
  'the client withdraws the request': (handler: Handler) =>
    handler(requestOf(withdrawal(1), { 'x-errand-agent': 'ada' })),
  'the client is gone': (_handler: Handler, gone: AbortController) => gone.abort(),
}

describe.each(takers)('What $tool has taken', ({ tool, args }) => {
  it.each(Object.keys(losses) as Array<keyof typeof losses>)(
    'is given back when %s before the answer is sent',
    async (loss) => {
      const gone = new AbortController()
      let isFirst = true
      const session = watchedSessions({
        ends: async () => {
          if (isFirst) await losses[loss](handler, gone)
          isFirst = false
        },
      })
      const { engine, handler, send, answer } = await openHandler(session)
      if (tool === 'board_inbox') await engine.bus.call('board:send', { as: 'lead', to: 'ada', body: 'Stop' })
      else await engine.bus.call('board:create', { subject: 'Write' })
      const lost = await send(callOf(tool, args), 'ada', { signal: gone.signal })
      expect(await lost.text()).not.toContain('structuredContent')
      // The same agent is offered it again at once.
      if (tool === 'board_inbox') {
        expect(await answer(callOf('board_inbox'))).toMatchObject({ mail: [{ body: 'Stop' }] })
        return
      }
      expect(await answer(callOf('board_claim_next'))).toMatchObject({ task: { id: 1, owner: 'ada', fence: 2 } })
      expect(await answer(callOf('board_log', { id: 1 }))).toMatchObject({
        claims: [
          { event: 'claimed', fence: 1 },
          { event: 'released', owner: 'ada', reason: 'the answer was not delivered' },
          { event: 'claimed', fence: 2 },
        ],
      })
      expect(await answer(callOf('board_complete', { id: 1 }))).toMatchObject({ task: { status: 'completed' } })
    },
  )
})

it('mail that a wait has taken is unread again when its answer was not read by the client', async () => {
  const { engine, send, answer } = await openHandler(undefined)
  await engine.bus.call('board:send', { as: 'lead', to: 'ada', body: 'Stop' })
  const unread = await send(callOf('board_wait'))
  await unread.body?.cancel()
  expect(await answer(callOf('board_wait'))).toMatchObject({ kind: 'mail', mail: [{ body: 'Stop' }] })
  expect(await answer(callOf('board_inbox'))).toEqual({ mail: [], more: false })
})

it('a client withdraws only requests of its own agent', async () => {
  const begun = deferred()
  const session = watchedSessions({ begins: () => begun.resolve() })
  const { engine, send } = await openHandler(session)
  const wait = send(callOf('board_wait', { timeoutMs: 30_000 }, 7), 'ada')
  await begun.promise
  await send(withdrawal(7), 'bob')
  await send(withdrawal(8), 'ada')
  await engine.bus.call('board:create', { subject: 'Write' })
  const { result } = await replyOf(await wait)
  expect(result?.['structuredContent']).toMatchObject({ kind: 'task', task: { id: 1, owner: 'ada' } })
})

it('an agent over standard input is offered again what a request had claimed that it withdrew', async () => {
  const engine = await openEngine()
  let isFirst = true
  const ended = deferred()
  const session = watchedSessions({
    ends: async () => {
      if (!isFirst) return
      isFirst = false
      ada.send(withdrawal(1))
      await turns()
    },
    settles: () => ended.resolve(),
  })
  const ada = connectByHand(engine, { as: 'ada', session })
  await engine.bus.call('board:create', { subject: 'Write' })
  ada.send(callOf('board_claim_next'))
  await ended.promise
  const { id, result } = await ada.ask(callOf('board_claim_next', {}, 2))
  expect(id).toBe(2)
  expect(result.structuredContent).toMatchObject({ task: { id: 1, owner: 'ada', fence: 2 } })
  ada.input.end()
  await ada.ended
})
