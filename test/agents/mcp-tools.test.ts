// The tools of foreign MCP servers, with the real client package and two public servers from npm, each in a process of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished } from 'vitest'
import { type McpClientLike, mcpTools } from '../../src/agents/mcp/mcp-tools.ts'
import { createScriptedModel } from '../../src/agents/models/scripted-model.ts'
import { openEngine, refusalOf } from '../engine/world.ts'
import { tool } from './world.ts'

/** A client of a public server, which runs in a process of its own. */
async function connected(packageName: string, ...args: string[]): Promise<Client> {
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`)
  const { bin } = createRequire(import.meta.url)(manifest) as { bin: Record<string, string> }
  const program = join(dirname(manifest), Object.values(bin)[0] as string)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, ...args], stderr: 'ignore' }),
  )
  onTestFinished(() => client.close())
  return client
}

it('an agent reads a file with the tools of the public server of file systems', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-mcp-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'note.txt'), 'The tide is high.')
  const files = await mcpTools(await connected('@modelcontextprotocol/server-filesystem', folder), { module: 'files' })
  const path = join(folder, 'note.txt')
  const model = createScriptedModel([
    { tools: [{ name: 'files_read_text_file', input: { path } }] },
    { tools: [{ name: 'files_read_text_file', input: { path: '/etc/passwd' } }] },
    { text: 'Read.' },
  ])
  const engine = await openEngine({ model, abilities: files.abilities })
  const task = await engine.create({ goal: 'Read the note' })
  expect(await engine.result(task)).toBe('Read.')
  expect(await engine.calls(task)).toMatchObject([
    {
      name: 'files:read_text_file',
      status: 'completed',
      onInterrupt: 'rerun',
      result: { content: 'The tide is high.' },
    },
    {
      name: 'files:read_text_file',
      status: 'failed',
      error: { code: 'TOOL_FAILED', message: expect.stringContaining('Access denied') },
    },
  ])
  expect(files.abilities.find(({ id }) => id === 'files:write_file')?.onInterrupt).not.toBe('rerun')
})

it('an agent calls tools of the public server of everything: images are stored whole, and the model reads their type and size', async () => {
  const all = await mcpTools(await connected('@modelcontextprotocol/server-everything'), { module: 'all' })
  const image = all.abilities.find(({ id }) => /image/.test(id))?.id as string
  const model = createScriptedModel([
    {
      tools: [
        { name: 'all_echo', input: { message: 'Hello' } },
        { name: image.replace(':', '_'), input: {} },
      ],
    },
    { text: 'Seen.' },
  ])
  const engine = await openEngine({ model, abilities: all.abilities })
  const task = await engine.create({ goal: 'Look' })
  expect(await engine.result(task)).toBe('Seen.')
  const [echoed, seen] = await engine.calls(task)
  expect(echoed?.result).toContain('Hello')
  expect(seen?.result).toContainEqual({
    type: 'image',
    data: expect.stringMatching(/^[A-Za-z0-9+/=]{100,}$/),
    mimeType: 'image/png',
  })
  expect(model.prompts[1]?.last).toMatch(/\d+ bytes of image\/png, left out/)
  expect(model.prompts[1]?.last).not.toMatch(/[A-Za-z0-9+/=]{100,}/)
})

/** A client whose server has these tools. */
function clientOf(tools: Array<{ name: string; [field: string]: unknown }>) {
  const calls: string[] = []
  let changed: () => Promise<void> = async () => {}
  const client: McpClientLike = {
    // Page by page, as servers with many tools do.
    listTools: async ({ cursor = '0' } = {}) => ({
      tools: tools
        .slice(Number(cursor), Number(cursor) + 1)
        .map((tool) => ({ inputSchema: { type: 'object' }, ...tool })),
      nextCursor: Number(cursor) + 1 < tools.length ? String(Number(cursor) + 1) : undefined,
    }),
    callTool: async ({ name }) => {
      calls.push(name)
      return { content: [{ type: 'text', text: `${name} done` }] }
    },
    setNotificationHandler: (_method: string, handler: () => Promise<void>) => {
      changed = handler
    },
  }
  return { client, calls, tools, changed: () => changed() }
}

it('tools that a server adds and removes are registered and unregistered', async () => {
  const server = clientOf([{ name: 'one' }, { name: 'two' }])
  const remote = await mcpTools(server.client, { module: 'far' })
  const engine = await openEngine({ abilities: remote.abilities })
  const stop = remote.follow(engine)
  server.tools.splice(0, 1)
  server.tools.push({ name: 'three' })
  await server.changed()
  expect(engine.bus.abilities().flatMap(({ id }) => (id.startsWith('far:') ? [id] : []))).toEqual([
    'far:three',
    'far:two',
  ])
  expect(await engine.bus.call('far:three' as string, {})).toBe('three done')
  server.tools.pop()
  await server.changed()
  await refusalOf(engine.bus.call('far:three' as string, {}), 'NOT_FOUND')
  stop()
})

it('a tool that a server changes is replaced, in every engine that follows it, and what a program left out or added itself stays', async () => {
  const server = clientOf([{ name: 'one', description: 'Old.' }, { name: 'hidden' }])
  const remote = await mcpTools(server.client, { module: 'far' })
  const offered = remote.abilities.filter(({ id }) => id !== 'far:hidden')
  const own = tool('far:own', () => 'own')
  const engines = [
    await openEngine({ abilities: [...offered, own] }),
    await openEngine({ abilities: [...offered, own] }),
  ]
  for (const engine of engines) remote.follow(engine)
  server.tools[0] = { name: 'one', description: 'New.', inputSchema: { type: 'object', required: ['a'] } }
  await server.changed()
  for (const { bus } of engines) {
    expect(bus.get('far:one' as string)).toMatchObject({ description: 'New.', inputSchema: { required: ['a'] } })
    expect([bus.has('far:own'), bus.has('far:hidden')]).toEqual([true, false])
  }
})

it('a call waits for as long as its tool takes, and a result keeps its images beside its structured content', async () => {
  const server = clientOf([{ name: 'draw' }])
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  const limits: unknown[] = []
  server.client.callTool = async (_params, given) => {
    limits.push(given)
    return { content: [image], structuredContent: { width: 1 } }
  }
  const { abilities } = await mcpTools(server.client, { module: 'far' })
  const engine = await openEngine({ abilities })
  expect(await engine.bus.call('far:draw' as string, {})).toEqual({ content: [image], structuredContent: { width: 1 } })
  expect(limits).toMatchObject([{ timeout: 2 ** 31 - 1 }])
})

it('tools have ids of their own whatever their names, keep schemas that cannot be converted as words, and may need approval', async () => {
  const server = clientOf([
    { name: 'a.b' },
    { name: 'a/b' },
    { name: 'drop', annotations: { destructiveHint: true } },
    { name: 'odd', inputSchema: { type: 'object', properties: { x: { type: 'string', pattern: '(' } } } },
    {
      name: 'old',
      inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } } },
    },
  ])
  const { abilities } = await mcpTools(server.client, { module: 'far', confirm: ({ name }) => name === 'drop' })
  expect(new Set(abilities.map(({ id }) => id)).size).toBe(5)
  expect(abilities.map(({ confirm }) => confirm)).toEqual([false, false, true, false, false])
  expect(abilities[3]?.inputSchema['description']).toContain('"pattern":"("')
  expect(abilities[4]?.inputSchema['properties']).toEqual({ a: { type: 'string' }, b: { type: 'string' } })
  await refusalOf(mcpTools(server.client, { module: 'a:b' }), 'INVALID_INPUT')
})
