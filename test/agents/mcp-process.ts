// An agent with the tools of public MCP servers in a process of its own, which dies as soon as a call of a tool has begun, or plays to the end.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createEngine, mcpTools } from 'errand'
import { createScriptedModel } from 'errand/testing'

const [folder, dies] = process.argv.slice(2) as [string, string]
const { resolve } = createRequire(join(folder, 'x.js'))

async function toolsOf(module: string, packageName: string, ...args: string[]) {
  const program = join(dirname(resolve(`${packageName}/package.json`)), 'dist/index.js')
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: 'ignore' }),
  )
  return { client, ...(await mcpTools(client, { module })) }
}

const files = await toolsOf('files', '@modelcontextprotocol/server-filesystem', folder)
const all = await toolsOf('all', '@modelcontextprotocol/server-everything')
const model = createScriptedModel([
  { tools: [{ name: 'files_write_file', input: { path: join(folder, 'note.txt'), content: 'once' } }] },
  { tools: [{ name: 'all_echo', input: { message: 'again' } }] },
  { text: 'Done.' },
])
const engine = await createEngine({
  ledger: join(folder, 'ledger.db'),
  model,
  abilities: [...files.abilities, ...all.abilities],
})
engine.subscribe('call.started', ({ data }) => {
  if (data['tool'] === dies) process.kill(process.pid, 'SIGKILL')
})
const task = await engine.create({ goal: 'Write a note', key: 'note' })
const outcome = await engine.settled(task)
const calls = (await engine.calls(task)).map(({ name, status, error }) => [name, status, error?.code ?? null])
process.stdout.write(JSON.stringify({ outcome, calls }))
await engine.close()
await Promise.all([files.client.close(), all.client.close()])
