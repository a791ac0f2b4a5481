// The toolsets of MCP: few tools with short schemas for each role, instructions that fit them, and answers that say why there is
// nothing to do.
import { expect, it, onTestFinished } from 'vitest'
import { type McpFetchOptions, mcpFetchHandler } from '../../../src/surfaces/mcp/index.ts'
import { toolsets } from '../../../src/surfaces/mcp/mcp-options.ts'
import { openEngine, refusalOf } from '../../engine/world.ts'
import { modernRequest, post, token } from './world.ts'

async function open(options: Partial<McpFetchOptions> = {}) {
  const engine = await openEngine()
  const handler = mcpFetchHandler(engine, { token, ...options })
  onTestFinished(() => handler.close())
  const send = async (method: string, params: Record<string, unknown> = {}, agent = 'ada') =>
    (await post(handler, modernRequest(method, params), { 'x-errand-agent': agent })).result as Record<string, any>
  const call = (name: string, input: object = {}, agent = 'ada') =>
    send('tools/call', { name, arguments: input }, agent)
  const names = async () => ((await send('tools/list'))['tools'] as Array<{ name: string }>).map(({ name }) => name)
  const instructions = async () => (await send('server/discover'))['instructions'] as string
  return { engine, send, call, names, instructions }
}

it.each(Object.keys(toolsets) as Array<keyof typeof toolsets>)(
  'the MCP toolset of a %s has at most ten tools, and the whole list of them at most 16 kB',
  async (name) => {
    const { send, names } = await open({ abilities: [name] })
    expect(await names()).toEqual(toolsets[name].map((id) => id.replace(':', '_')).toSorted())
    expect(toolsets[name].length).toBeLessThanOrEqual(10)
    const { tools } = await send('tools/list')
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(16 * 1024)
  },
)

it('the MCP tools are those of a worker unless others are named, and toolsets may be named beside abilities', async () => {
  expect(await (await open()).names()).toEqual(await (await open({ abilities: ['worker'] })).names())
  const both = await open({ abilities: ['observer', 'mem:retrieve'] })
  expect(await both.names()).toEqual(
    [...(await (await open({ abilities: ['observer'] })).names()), 'mem_retrieve'].sort(),
  )
  const tools = (await both.send('tools/list'))['tools'] as Array<{ name: string; outputSchema?: object }>
  const described = tools.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name)
  expect(described).toEqual(['mem_retrieve'])
  const refusal = await refusalOf(
    (async () => mcpFetchHandler(both.engine, { token, abilities: ['boss'] }))(),
    'INVALID_INPUT',
  )
  expect(refusal.message).toContain('or one of the toolsets worker, lead, observer')
})

it('an MCP observer only reads: the tools that change something are refused', async () => {
  const { call } = await open({ abilities: ['observer'] })
  for (const name of ['board_create', 'board_claim_next', 'task_create', 'task_cancel'])
    expect(await call(name)).toBeUndefined()
})

it('the MCP instructions name only tools that are offered, and say what a worker does when there is nothing to do', async () => {
  for (const abilities of [['worker'], ['lead'], ['observer'], ['*'], ['notes:*']]) {
    const { names, instructions } = await open({ abilities })
    const offered = await names()
    for (const [named] of ((await instructions()) ?? '').matchAll(/\b(?:board|task)_[a-z_]+/g))
      expect(offered).toContain(named)
  }
  const text = await (await open()).instructions()
  expect(text).toMatch(
    /board_claim_next .* board_complete .*\nWhen there is nothing to do, .* board_wait .* you are done\./s,
  )
})

it('board_claim_next says why there is nothing to do: for each reason which tasks, by number', async () => {
  const { engine, call } = await open()
  const next = async (input: object = {}) => (await call('board_claim_next', input))['structuredContent']
  expect(await next()).toEqual({
    task: null,
    why: { message: 'There is nothing to do: the board "main" has no open task.', reasons: [] },
  })
  for (const subject of ['mine', 'theirs', 'later']) await call('board_create', { subject })
  await call('board_update', { id: 3, addBlockedBy: [1] })
  await call('board_claim', { id: 1 })
  await call('board_claim', { id: 2 }, 'bob')
  const [, , held] = await engine.create([
    { name: 'review', role: 'reviewer' },
    { name: 'not yet', notBefore: Date.now() + 3_600_000 },
    { name: 'held' },
  ])
  await engine.pause(await engine.start(held as { id: string }))
  await call('board_create', { subject: 'for cem', owner: 'cem' })
  await engine.create({ name: 'group', tasks: { part: { after: [] } } }).then(async (group) => {
    for (const child of await engine.children(group)) await engine.cancel(child)
  })
  expect(await next()).toEqual({
    task: null,
    why: {
      message:
        'Nothing can be claimed now. You hold: 1 (ada). In progress: 2 (bob). Blocked by other tasks: 3. ' +
        'For another role: 4 (role reviewer). Assigned to another owner: 7 (cem). Not due yet: 5. Held until a start or a resume: 6.',
      reasons: [
        { reason: 'yours', count: 1, tasks: [1] },
        { reason: 'claimed', count: 1, tasks: [2] },
        { reason: 'blocked', count: 1, tasks: [3] },
        { reason: 'role', count: 1, tasks: [4] },
        { reason: 'assigned', count: 1, tasks: [7] },
        { reason: 'timer', count: 1, tasks: [5] },
        { reason: 'held', count: 1, tasks: [6] },
      ],
    },
  })
  expect((await next({ tags: ['none'] })).why.message).toBe(
    'There is nothing to do: no open task matches the parent and the tags.',
  )
  expect((await next({ role: 'reviewer' })).task).toMatchObject({ id: 4, owner: 'ada' })
})

it('an MCP tool that is given an unknown name for its one missing argument is asked for that argument', async () => {
  const { call } = await open()
  for (const input of [{ task: 1 }, { taskId: 1 }, { number: 1 }]) {
    const { isError, content } = await call('board_claim', input)
    expect(isError).toBe(true)
    expect(JSON.parse(content[0].text).error).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('Did you mean "id"?'),
    })
  }
})
