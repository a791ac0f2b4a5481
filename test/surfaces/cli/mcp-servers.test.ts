// The MCP servers that `--mcp` and plans start: their tools as they change, and which part of the text is a name, a variable, a command.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { call } from './agent-workplace.ts'
import { Workplace } from './workplace.ts'

/**
 * A server whose tool `grow` adds the tool `grown`, and whose tool `env` says where the server runs, with which KEY. A call of `grow` ends when the
 * list has been read again.
 */
const serverText = `
import { createInterface } from 'node:readline'
const tool = (name) => ({ name, inputSchema: { type: 'object' } })
const tools = [tool('grow'), tool('env')]
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const text = (value) => ({ content: [{ type: 'text', text: value }] })
let growing
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    const capabilities = { tools: { listChanged: true } }
    say({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'growing', version: '1' } } })
  } else if (method === 'tools/list') {
    say({ id, result: { tools } })
    if (growing !== undefined) say({ id: growing, result: text('grown') })
    growing = undefined
  } else if (method === 'tools/call' && params.name === 'grow') {
    growing = id
    tools.push(tool('grown'))
    say({ method: 'notifications/tools/list_changed' })
  } else if (method === 'tools/call') {
    say({ id, result: text(params.name === 'env' ? process.cwd() + ' ' + process.env.KEY : 'called') })
  }
})
`
const command = `"${process.execPath}" server.mjs`

function prepared(tools: string[]): Workplace {
  const place = new Workplace()
  place.write('server.mjs', serverText)
  place.write('script.json', JSON.stringify([...tools.map((name) => ({ tools: [{ name }] })), { text: 'Done.' }]))
  return place
}

async function callsOf(place: Workplace, task: string): Promise<unknown> {
  return JSON.parse((await place.errand('show', task, '--json')).out).calls
}

const grown = [
  { name: 'mcp:grow', status: 'completed', result: 'grown' },
  { name: 'mcp:grown', status: 'completed', result: 'called' },
]

it('errand ask offers a tool that an MCP server adds while the agent works', async () => {
  await using place = prepared(['mcp_grow', 'mcp_grown'])
  const { code } = await call(place, ['ask', 'Grow', '--model', 'script:script.json', '--mcp', command]).ended
  expect(code).toBe(0)
  expect(await callsOf(place, '#1')).toMatchObject(grown)
})

it('errand run offers a tool that an MCP server of the plan adds while the agent works', async () => {
  await using place = prepared(['mcp_grow', 'mcp_grown'])
  const plan = { model: 'script:script.json', mcp: command, tasks: { a: { goal: 'Grow' } } }
  place.write('plan.yaml', JSON.stringify(plan))
  expect((await call(place, ['run', 'plan.yaml']).ended).code).toBe(0)
  expect(await callsOf(place, '#2')).toMatchObject(grown)
})

it.each([
  ['a name', `far=${command}`, 'far', ['', 'undefined']],
  ['a name and a variable', `far=KEY=1 ${command}`, 'far', ['', '1']],
  [
    'a command in another folder',
    `cd sub && exec ${command.replace('server', '../server')}`,
    'mcp',
    ['/sub', 'undefined'],
  ],
])('--mcp takes %s', async (_what, given, module, [folder, key]) => {
  await using place = prepared([`${module}_env`])
  mkdirSync(join(place.folder, 'sub'))
  const { code } = await call(place, ['ask', 'Look', '--model', 'script:script.json', '--mcp', given]).ended
  expect(code).toBe(0)
  expect(await callsOf(place, '#1')).toMatchObject([
    { name: `${module}:env`, result: `${place.folder}${folder} ${key}` },
  ])
})

it('--mcp refuses what may be a name or a variable, and says how to write either', async () => {
  await using place = prepared([])
  const given = 'KEY=1 npx server'
  const { code, err } = await call(place, ['ask', 'Look', '--model', 'script:script.json', '--mcp', given]).ended
  expect(code).toBe(2)
  expect(err).toContain("key='1 npx server'")
  expect(err).toContain("mcp='KEY=1 npx server'")
  expect(existsSync(join(place.folder, 'ledger.db'))).toBe(false)
})
