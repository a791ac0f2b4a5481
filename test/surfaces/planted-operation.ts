// A program with one more operation, which is added to the list of tasks before anything else is loaded. Prints what each surface makes
// of it, as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { z } from 'zod'
import { update } from '../../src/operations/steps/update.ts'
import { taskChange } from '../../src/operations/task/define-change.ts'
import { taskOperations } from '../../src/operations/task/index.ts'

const taskDescribe = taskChange({
  id: 'task:describe',
  description: 'Replaces the description of a task.',
  routes: [
    { endpoint: 'POST /tasks/{taskId}/describe', tag: 'Control', operationId: 'describeTask', summary: 'Describe it' },
  ],
  verb: {
    name: 'describe',
    group: 'steer',
    summary: 'replace the description of a task',
    help: 'Replaces the description of tasks.',
    options: { text: { field: 'text', shown: 'TEXT', short: 't' } },
  },
  input: () => ({ text: z.string().min(1) }),
  args: ['text'],
  step: ({ taskId, text }, ctx) => update(taskId, { description: text }, undefined, ctx),
})
;(taskOperations as unknown as object[]).push(taskDescribe)

const { createEngine } = await import('../../src/index.ts')
const { main } = await import('../../src/surfaces/cli/main.ts')
const { createHttp } = await import('../../src/surfaces/http/index.ts')
const { mcpFetchHandler } = await import('../../src/surfaces/mcp/index.ts')
const { runScript } = await import('../../src/surfaces/repl/index.ts')

const [ledger = ''] = process.argv.slice(2)
const token = 'a-token-that-is-long-enough-for-a-test'
await using engine = await createEngine({ ledger, work: false })
const { id } = await engine.create({ name: 'a' })

/** The description after a surface has set it. */
async function described(change: () => Promise<unknown>): Promise<unknown> {
  await change()
  return (await engine.get(id))?.description
}

/** What the command line prints. */
async function printed(...argv: string[]): Promise<string> {
  let text = ''
  const stream = { write: (part: string) => (text += part) }
  const io = { stdout: stream, stderr: stream, env: { ERRAND_LEDGER: ledger }, cwd: process.cwd() }
  await main(argv, { ...io, onInterrupt: () => () => {}, exit: () => {}, interrupt: () => {} })
  return text
}

async function inRepl(line: string): Promise<string> {
  let text = ''
  const stream = { write: (part: string) => (text += part) }
  await runScript(engine, [line], { stdout: stream, stderr: stream })
  return text
}

const http = createHttp(engine, { token })
const mcp = mcpFetchHandler(engine, { token, abilities: ['task:*'] })

const headers = { authorization: `Bearer ${token}` }

function overHttp(): Promise<Response> {
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  return http(new Request(`http://localhost/tasks/${id}/describe`, { ...init, body: '{"text":"over HTTP"}' }))
}

async function overMcp(): Promise<void> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: (url, init) => mcp(new Request(url, init)),
    requestInit: { headers },
  })
  await client.connect(transport as never)
  await client.callTool({ name: 'task_describe', arguments: { taskId: id, text: 'over MCP' } })
  await client.close()
}

const report = {
  bus: await described(() => engine.bus.call('task:describe' as string, { taskId: id, text: 'on the bus' })),
  method: await described(() => (engine as never as Describing).describe(id, 'by the method')),
  http: await described(overHttp),
  openapi: http.openapi().paths['/tasks/{taskId}/describe']?.['post']?.operationId,
  cli: await described(() => printed('describe', '#1', '-t', 'on the command line')),
  overview: await printed('help'),
  help: await printed('help', 'describe'),
  completion: await printed('completion', 'bash'),
  repl: await described(() => inRepl('/describe a --text "in the REPL"')),
  replHelp: await inRepl('/help describe'),
  mcp: await described(overMcp),
}
export type Report = typeof report

interface Describing {
  describe(task: string, text: string): Promise<unknown>
}

process.stdout.write(JSON.stringify(report))
await mcp.close()
await http.close()
