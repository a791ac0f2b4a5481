// How long one request blocks the event loop of an engine with many tasks: each ability that reads more than one row is called with its
// maximum limit, on the bus, over HTTP and over MCP.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from 'errand'
import type { HttpHandler } from 'errand/http'
import type { McpFetchHandler } from 'errand/mcp'
import { callRow, edgeRow, eventRow, runRow, taskRow } from '../../test/ledger/factories.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow, type World } from '../runner/row.ts'
import { stallOf } from '../runner/stall.ts'

interface Size {
  tasks: number
}

interface Given extends Size {
  by: 'bus' | 'HTTP' | 'MCP'
}

/** Each goal is a long text. */
const longGoals = 10
const writtenAtOnce = 1_000

/** Of the first task. */
const runsAndCalls = 5_000

const fileOf = (prepared: string, { tasks }: Size): string => join(prepared, `blocking-${tasks}.db`)

/** Half of the tasks are in one group below the first task; a thousand wait for it; a tenth is open. */
async function fill({ packageRoot, prepared }: World, size: Size): Promise<void> {
  const { tasks } = size
  const { openLedger } = await loadEntry<typeof import('errand/testing')>(packageRoot, 'errand/testing')
  const ledger = await openLedger(fileOf(prepared, size))
  for (let from = 0; from < tasks; from += writtenAtOnce) {
    await ledger.step({
      name: 'fill',
      *decide(tx) {
        for (let n = from; n < Math.min(tasks, from + writtenAtOnce); n++) {
          const id = `task-${n}`
          const isOpen = n % 10 === 0
          const isBelow = n > 0 && n % 2 === 0
          yield* tx.task.insert(
            taskRow({
              id,
              name: `Task ${n}`,
              goal:
                n < longGoals
                  ? 'a'.repeat(1024 * 1024)
                  : `Summarise chapter ${n} of the book and say what is new in it.`,
              description: 'A description for the readers of the list of all tasks.',
              input: { chapter: n, path: `/books/chapter-${n}.md` },
              metadata: { source: 'bench', n },
              tags: ['book', `part-${n % 7}`],
              priority: n % 5,
              status: n === 0 ? 'working' : isOpen ? 'submitted' : 'completed',
              completedAt: isOpen ? null : 1,
              claimable: isOpen && n > 0,
              group: n === 0,
              childCount: n === 0 ? tasks / 2 - 1 : 0,
              ...(isBelow && { parentId: 'task-0', depth: 1 }),
            }),
          )
          yield* tx.event.append(eventRow({ taskId: id, data: { name: `Task ${n}`, status: 'submitted' } }))
          if (n > 0 && n <= 1_000) yield* tx.dependency.insert(edgeRow({ taskId: id, blockerId: 'task-0' }))
        }
      },
    })
  }
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (let n = 1; n <= runsAndCalls; n++) {
        yield* tx.run.insert(
          runRow({ taskId: 'task-0', number: n, status: 'closed', outcome: 'failed', endedAt: 1, closedAt: 1 }),
        )
        yield* tx.call.insert(callRow({ id: `call-${n}`, taskId: 'task-0', ident: `step-${n}`, status: 'completed' }))
      }
    },
  })
  await ledger.close()
}

const model = { caller: { surface: 'model', taskId: 'task-0', run: 1 } as const }
const firstLook = 'board:list, first look'
/** The outcome of a request that is not refused. */
const answered = 'answered'
const long = `${'a'.repeat(489)}b`

interface Asked {
  title: string
  abilityId: string
  input: object
  options?: Parameters<ReturnType<Engine['bus']['invoke']>>[1]
}

const asked: Asked[] = [
  { title: firstLook, abilityId: 'board:list', input: {} },
  { title: 'task:list', abilityId: 'task:list', input: {} },
  { title: 'task:list, 5,000', abilityId: 'task:list', input: { limit: 5_000 } },
  { title: 'task:list, a state', abilityId: 'task:list', input: { status: 'submitted' } },
  { title: 'task:list, a tag', abilityId: 'task:list', input: { tag: 'part-3', limit: 5_000 } },
  { title: 'task:list, an unknown executor', abilityId: 'task:list', input: { executor: 'unknown' } },
  { title: 'task:list, children', abilityId: 'task:list', input: { parentId: 'task-0', limit: 5_000 } },
  { title: 'task:list, of the past', abilityId: 'task:list', input: { at: 50, limit: 5_000 } },
  { title: 'task:list, words', abilityId: 'task:list', input: { text: 'chapter 777' } },
  { title: 'task:list, a long word (V-07)', abilityId: 'task:list', input: { text: long } },
  {
    title: 'task:list, 240 words',
    abilityId: 'task:list',
    input: { text: Array.from({ length: 240 }, (_, n) => n % 10).join(' ') },
  },
  { title: 'task:list of a model', abilityId: 'task:list', input: { limit: 1_000 }, options: model },
  { title: 'task:get', abilityId: 'task:get', input: { taskId: 'task-0' } },
  { title: 'task:runs', abilityId: 'task:runs', input: { taskId: 'task-0', limit: 1_000 } },
  { title: 'task:calls', abilityId: 'task:calls', input: { taskId: 'task-0', limit: 1_000 } },
  { title: 'task:why of a group', abilityId: 'task:why', input: { taskId: 'task-0' } },
  { title: 'task:graph', abilityId: 'task:graph', input: {} },
  { title: 'task:graph below', abilityId: 'task:graph', input: { parentId: 'task-0' } },
  { title: 'engine:status', abilityId: 'engine:status', input: {} },
  { title: 'event:list, 5,000', abilityId: 'event:list', input: { limit: 5_000 } },
  { title: 'event:list, the last 5,000', abilityId: 'event:list', input: { before: 10_000_000, limit: 5_000 } },
  { title: 'task:teams', abilityId: 'task:teams', input: {} },
  { title: 'board:list', abilityId: 'board:list', input: {} },
  { title: 'board:list, 10,000', abilityId: 'board:list', input: { limit: 10_000 } },
  { title: 'board:ready', abilityId: 'board:ready', input: { limit: 1_000 } },
  { title: 'board:list of a model', abilityId: 'board:list', input: { limit: 500 }, options: model },
  { title: 'board:graph', abilityId: 'board:graph', input: {} },
  { title: 'board:get', abilityId: 'board:get', input: { id: 1 } },
  { title: 'board:why', abilityId: 'board:why', input: { id: 1 } },
  { title: 'board:claim_next of a model', abilityId: 'board:claim_next', input: { as: 'ann' }, options: model },
  {
    title: 'board:update of a workspace',
    abilityId: 'board:update',
    input: { id: 11, workspace: '/tmp/somewhere', as: 'ann' },
  },
]

/** `outcomeOf` reads the answer when the time is taken: parsing it is the client's work, not the server's. */
type Work = [title: string, work: () => Promise<unknown>, outcomeOf?: (answer: string) => string]

/** Requests of the program, which has more methods than abilities. */
function calls(engine: Engine): Work[] {
  const ofAbilities = asked.map(
    ({ title, abilityId, input, options }): Work => [
      title,
      async () => {
        try {
          await engine.bus.invoke(abilityId)(JSON.stringify(input), options)
          return answered
        } catch (error) {
          return String((error as { code?: string }).code)
        }
      },
    ],
  )
  return [
    ...ofAbilities,
    ['engine.list, by priority', () => engine.list({ limit: 500 })],
    ['engine.subtree', () => engine.subtree('task-0')],
  ]
}

const token = 'a-token-that-is-long-enough-for-the-bench'
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
/** Requests of a client for itself, not as the model of a task, on a board whose numbers are assigned. */
const askedByClients = asked.filter(({ title, options }) => title !== firstLook && options === undefined)

function overHttp(http: HttpHandler): Work[] {
  return askedByClients.map(({ title, abilityId, input }) => [
    title,
    async () => {
      const url = `http://localhost/abilities/${abilityId}`
      const response = await http(new Request(url, { method: 'POST', headers, body: JSON.stringify(input) }))
      const text = await response.text()
      return response.ok ? answered : String((JSON.parse(text) as { code?: string }).code)
    },
  ])
}

interface McpAnswer {
  error?: { message: string }
  result?: { isError?: boolean }
}

/** A client of the later protocol revision, which sends each call without a session. */
async function overMcp(handler: McpFetchHandler): Promise<Work[]> {
  const revision = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const send = async (method: string, params: { name?: string; arguments?: object }): Promise<string> => {
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        ...headers,
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        'mcp-method': method,
        ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    })
    return (await handler(request)).text()
  }
  const tools = await send('tools/list', {})
  return askedByClients
    .map(({ title, abilityId, input }) => ({ title, name: abilityId.replaceAll(':', '_'), input }))
    .filter(({ name }) => tools.includes(`"name":"${name}"`))
    .map(({ title, name, input }) => [
      title,
      () => send('tools/call', { name, arguments: input }),
      (answer) => {
        const { error, result } = JSON.parse(answer) as McpAnswer
        if (error !== undefined) return error.message
        return result?.isError ? (/[A-Z]+_[A-Z]+/.exec(JSON.stringify(result))?.[0] ?? 'an error') : answered
      },
    ])
}

export const blocking = defineRow<Size, Given>({
  name: 'blocking',
  title: 'The longest block by one request',
  method:
    'Half of the tasks are in one group, a thousand wait for one task, and ten have goals of a megabyte. Each request is made once. ' +
    'The notes name the requests that block the longest.',
  figures: {
    longest: { label: 'longest block', unit: 'ms', better: 'less' },
    requests: { label: 'requests', unit: 'of this kind', better: 'more' },
  },
  sizes: { full: { tasks: 100_000 }, quick: { tasks: 20_000 }, tiny: { tasks: 100 } },
  rounds: { full: 1, quick: 1, tiny: 1 },
  cases: ({ tasks }) => (['bus', 'HTTP', 'MCP'] as const).map((by) => ({ name: by, given: { tasks, by } })),
  prepare: (size, world) => fill(world, size),
  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, { errand, folder, note, packageRoot, prepared }) {
        const { createEngine } = await errand()
        const { createHttp } = await loadEntry<typeof import('errand/http')>(packageRoot, 'errand/http')
        const { mcpFetchHandler } = await loadEntry<typeof import('errand/mcp')>(packageRoot, 'errand/mcp')
        const ledger = join(folder, 'ledger.db')
        copyFileSync(fileOf(prepared, given), ledger)
        const engine = await createEngine({ ledger, work: false })
        const http = createHttp(engine, { token, rateLimit: false })
        const abilities = ['board:*', 'task:create', 'task:get', 'task:list', 'task:wait', 'task:messages']
        const mcp = mcpFetchHandler(engine, { token, abilities })
        const works = { bus: () => calls(engine), HTTP: () => overHttp(http), MCP: () => overMcp(mcp) }
        const found: Array<{ title: string; stall: number; took: number; outcome: string }> = []
        for (const [title, work, outcomeOf] of await works[given.by]()) {
          const { stall, took, value } = await stallOf(work)
          const outcome = typeof value !== 'string' ? answered : (outcomeOf?.(value) ?? value)
          found.push({ title, stall, took, outcome })
        }
        await mcp.close()
        await http.close()
        await engine.close()
        const longest = found.toSorted((a, b) => b.stall - a.stall)
        for (const { title, stall, took, outcome } of longest.slice(0, 5)) {
          const refused = outcome === answered ? '' : ` (refused: ${outcome})`
          note(`${given.by}: ${title} blocks for ${stall.toFixed(0)} ms of ${took.toFixed(0)} ms${refused}`)
        }
        return { longest: longest[0]?.stall ?? 0, requests: found.length }
      },
    },
  },
})
