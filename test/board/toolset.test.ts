// The four tools as an agent loop uses them: called by name with the input of a model, answered with text.
import { describe, expect, it } from 'vitest'
import { mainBoard } from '../../src/entities/board.ts'
import { boardTools } from '../../src/index.ts'
import { openEngine, refusalOf } from '../engine/world.ts'
import { agentOn, openBoard } from './world.ts'

const sevenKeys = ['id', 'subject', 'description', 'status', 'blockedBy', 'blocks', 'owner']

describe('The dispatch map', () => {
  it('S4-036 boardTools has the four tools under their names, and answers others with Unknown tool', async () => {
    const { tools } = await openBoard()
    const names = ['task_create', 'task_update', 'task_list', 'task_get']
    expect(Object.keys(tools.handlers)).toEqual(names)
    expect(Object.keys(tools.schemas)).toEqual(names)
    expect(tools.tools.map(({ name }) => name)).toEqual(names)
    for (const { name, description, input_schema } of tools.tools) {
      expect(description.length).toBeGreaterThan(20)
      expect(input_schema).toBe(tools.schemas[name])
    }
    for (const name of ['task_delete', 'toString', '__proto__', ''])
      expect(await tools.dispatch(name, {})).toBe(`Unknown tool: ${name}`)
  })

  it('S4-038 the tool schemas require a subject and a task_id, and list the statuses', async () => {
    const { tools } = await openBoard()
    expect(tools.schemas.task_create).toMatchObject({ type: 'object', required: ['subject'] })
    expect(tools.schemas.task_update).toMatchObject({
      type: 'object',
      required: ['task_id'],
      properties: { status: { enum: ['pending', 'in_progress', 'completed', 'failed', 'deleted'] } },
    })
    expect(tools.schemas.task_get).toMatchObject({ required: ['task_id'] })
    expect(tools.schemas.task_list).toMatchObject({ type: 'object', properties: {} })
    for (const schema of Object.values(tools.schemas)) {
      expect(schema).toMatchObject({ additionalProperties: false })
      expect(schema).not.toHaveProperty('$schema')
    }
  })

  it('S4-039 the tools answer every failure with text and keep working', async () => {
    const { say } = await openBoard()
    expect(await say('task_get', { task_id: 9 })).toBe('Error: Task 9 not found')
    expect(await say('task_get', {})).toMatch(/^Error: task_get is not valid: task_id/)
    expect(await say('task_create', { subject: 'A', colour: 'red' })).toMatch(
      /^Error: task_create has no option "colour"/,
    )
    expect(await say('task_create', 'A')).toMatch(/^Error: task_create is not valid/)
    expect(await say('task_create', undefined)).toMatch(/^Error: task_create is not valid: subject/)
    expect(await say('task_update', { task_id: 1, status: 'done' })).toBe('Error: Invalid status: done')
    expect((await say('task_update', { task_id: 1, status: 'd'.repeat(1_000_000) })).length).toBeLessThan(200)
    expect(await say('task_nap')).toBe('Unknown tool: task_nap')
    expect(await say('task_create', { subject: 'A' })).toContain('"subject": "A"')
  })

  it('S4-037 the tools accept description and edges under the names that models use', async () => {
    const { ask } = await openBoard()
    await ask('task_create', { subject: 'A' })
    await ask('task_create', { subject: 'B', description: 'what B is', addBlockedBy: [1] })
    await ask('task_create', { subject: 'C', add_blocked_by: [2] })
    await ask('task_create', { subject: 'D', blockedBy: [1], blocks: [3] })
    expect(await ask('task_get', { task_id: 2 })).toMatchObject({
      description: 'what B is',
      blockedBy: [1],
      blocks: [3],
    })
    expect(await ask('task_get', { taskId: 3 })).toMatchObject({ blockedBy: [2, 4] })
    await ask('task_update', { task_id: 1, add_blocks: [3], active_form: 'Doing A', metadata: { size: 2 } })
    expect(await ask('task_get', { id: 3 })).toMatchObject({ blockedBy: [2, 4, 1] })
    expect(await ask('task_update', { task_id: 3, remove_blocked_by: [4, 1] })).toMatchObject({ blockedBy: [2] })
    expect(await ask('task_update', { task_id: 1, remove_blocks: [2] })).toMatchObject({
      blocks: [4],
      activeForm: 'Doing A',
      metadata: { size: 2 },
    })
  })

  it('S4-040 the tools accept arrays as JSON text and refuse other values', async () => {
    const { ask, say } = await openBoard()
    for (const subject of ['A', 'B', 'C']) await ask('task_create', { subject })
    expect(await ask('task_create', { subject: 'D', addBlockedBy: '[1, 2]' })).toMatchObject({ blockedBy: [1, 2] })
    expect(await ask('task_update', { task_id: '4', addBlockedBy: '["#3"]' })).toMatchObject({ blockedBy: [1, 2, 3] })
    expect(await ask('task_update', { task_id: 4, removeBlockedBy: '1, 2' })).toMatchObject({ blockedBy: [3] })
    expect(await ask('task_update', { task_id: 4, removeBlockedBy: 3, addBlockedBy: '' })).toMatchObject({
      blockedBy: [],
    })
    for (const list of ['[1, 2', '{"a": 1}', { a: 1 }, [null], [[1]], [0], [1.5], true]) {
      expect(await say('task_update', { task_id: 4, addBlockedBy: list })).toMatch(/^Error: /)
    }
    expect(await say('task_create', { subject: 'E', addBlockedBy: ['Write code'] })).toBe(
      'Error: Task Write code not found',
    )
    expect(await say('task_list')).not.toContain('E')
  })
})

describe('task_create', () => {
  it('S4-014 task_create answers with the JSON text of a pending, unowned task without edges', async () => {
    const { say } = await openBoard()
    const text = await say('task_create', { subject: 'Setup project' })
    const task = JSON.parse(text) as Record<string, unknown>
    expect(text).toBe(JSON.stringify(task, null, 2))
    expect(Object.keys(task).slice(0, 7)).toEqual(sevenKeys)
    expect(task).toMatchObject({
      id: 1,
      subject: 'Setup project',
      description: '',
      status: 'pending',
      blockedBy: [],
      blocks: [],
      owner: '',
      canonicalStatus: 'submitted',
    })
    expect(await say('task_create', { subject: 'Write code', description: 'in TypeScript' })).toContain(
      '"description": "in TypeScript"',
    )
  })

  it('S4-015 task_create refuses an empty subject', async () => {
    const { say } = await openBoard()
    for (const subject of ['', '   ', '\n\t', null, 7])
      expect(await say('task_create', { subject })).toMatch(/^Error: task_create is not valid: subject/)
    expect(await say('task_list')).toBe('No tasks.')
  })

  it('S4-005 task_create counts from 1 and first numbers tasks of other surfaces by age', async () => {
    const { engine, ask, say } = await openBoard()
    await engine.create({ name: 'older' })
    await engine.create({ name: 'old' })
    expect(await ask('task_create', { subject: 'new' })).toMatchObject({ id: 3 })
    await engine.create({ name: 'newer' })
    expect(await ask('task_create', { subject: 'newest' })).toMatchObject({ id: 5 })
    expect(await say('task_list')).toBe('[ ] #1: older\n[ ] #2: old\n[ ] #3: new\n[ ] #4: newer\n[ ] #5: newest')
  })

  it('S4-006 task_create never reuses a number, not even the highest after its deletion', async () => {
    const { engine, ask } = await openBoard()
    await ask('task_create', { subject: 'A' })
    await ask('task_create', { subject: 'B' })
    await engine.bus.call('board:delete', { id: 2 })
    expect(await ask('task_create', { subject: 'C' })).toMatchObject({ id: 3 })
  })
})

describe('task_get', () => {
  it('S4-016 task_get answers with the JSON text of a task by number, text or id; an unknown one is not found', async () => {
    const { ask, say } = await openBoard()
    const made = await ask('task_create', { subject: 'A' })
    for (const task_id of [1, '1', '#1', ' 1 ', made['taskId']])
      expect(await ask('task_get', { task_id })).toEqual(made)
    expect(await say('task_get', { task_id: 42 })).toBe('Error: Task 42 not found')
    expect(await say('task_get', { task_id: '#42' })).toBe('Error: Task 42 not found')
    for (const task_id of ['../1', '1/../../etc', '01', '1e0', 'task-missing'])
      expect(await say('task_get', { task_id })).toBe(`Error: Task ${task_id} not found`)
    for (const task_id of [0, -1, 1.5, null, [], {}])
      expect(await say('task_get', { task_id })).toMatch(/^Error: task_get/)
  })
})

describe('task_update', () => {
  it('S4-017 S4-035 task_update accepts the statuses of the board, answers with the task, and refuses other statuses', async () => {
    const { ask, say } = await openBoard()
    await ask('task_create', { subject: 'A' })
    expect(await ask('task_update', { task_id: 1, status: 'in_progress' })).toMatchObject({
      status: 'in_progress',
      owner: 'alice',
      canonicalStatus: 'working',
    })
    expect(await ask('task_update', { task_id: 1, status: 'pending' })).toMatchObject({ status: 'pending', owner: '' })
    expect(await ask('task_update', { task_id: 1, status: 'completed' })).toMatchObject({
      status: 'completed',
      owner: 'alice',
    })
    for (const status of ['done', 'COMPLETED', 'working', 'canceled', '', null, 3, ['completed']])
      expect(await say('task_update', { task_id: 1, status })).toBe(
        `Error: Invalid status: ${typeof status === 'string' ? status : JSON.stringify(status)}`,
      )
    expect(await ask('task_update', { task_id: 1, subject: 'A2', priority: 3 })).toMatchObject({
      subject: 'A2',
      priority: 3,
      status: 'completed',
    })
  })

  it('S4-056 task_update completes a pending task by way of in_progress, once for each caller', async () => {
    const { engine, ask } = await openBoard()
    const { taskId } = (await ask('task_create', { subject: 'A' })) as { taskId: string }
    await ask('task_update', { task_id: 1, status: 'completed' })
    await ask('task_update', { task_id: 1, status: 'completed' })
    const types: string[] = []
    for await (const event of engine.events({ taskId, follow: false })) types.push(event.type)
    expect(types).toEqual(['task.created', 'task.claimed', 'task.started', 'task.completed'])
  })

  it("S4-055 task_update completes another owner's task for no other client, and its owner stays", async () => {
    const { engine, ask } = await openBoard()
    const bob = agentOn(engine, 'bob')
    await ask('task_create', { subject: 'A' })
    await ask('task_update', { task_id: 1, status: 'in_progress' })
    expect(await bob.say('task_update', { task_id: 1, status: 'completed' })).toMatch(
      /^Error: Task 1 is worked on by alice, not by bob/,
    )
    expect(await bob.say('task_update', { task_id: 1, status: 'in_progress' })).toBe(
      'Error: Task 1 is already in_progress, and alice owns it',
    )
    expect(await bob.ask('task_update', { task_id: 1, description: 'seen by bob' })).toMatchObject({ owner: 'alice' })
    expect(await ask('task_update', { task_id: 1, status: 'completed' })).toMatchObject({ owner: 'alice' })
    expect(await bob.ask('task_get', { task_id: 1 })).toMatchObject({ status: 'completed', owner: 'alice' })
  })

  it('S4-045 task_update answers with the tasks that it unblocked, and only those', async () => {
    const { ask } = await openBoard()
    await ask('task_create', { subject: 'A' })
    await ask('task_create', { subject: 'B', addBlockedBy: [1] })
    await ask('task_create', { subject: 'C', addBlockedBy: [1, 2] })
    await ask('task_create', { subject: 'D', addBlockedBy: [1] })
    await ask('task_create', { subject: 'E' })
    expect(await ask('task_update', { task_id: 5, status: 'completed' })).not.toHaveProperty('unblocked')
    expect(await ask('task_update', { task_id: 1, status: 'completed' })).toMatchObject({ unblocked: [2, 4] })
    expect(await ask('task_update', { task_id: 2, removeBlocks: [3] })).toMatchObject({ unblocked: [3] })
  })

  it('task_update with a status and an owner results in that owner or is refused; an empty owner is ignored', async () => {
    const { ask, say } = await openBoard()
    await ask('task_create', { subject: 'A', owner: 'bob' })
    expect(await say('task_list')).toBe('[ ] #1: A @bob')
    expect(await say('task_update', { task_id: 1, status: 'in_progress' })).toMatch(/^Error: .*meant for bob/)
    expect(await ask('task_update', { task_id: 1, owner: '' })).toMatchObject({ owner: '' })
    expect(await say('task_update', { task_id: 1, status: 'in_progress', owner: 'bob' })).toMatch(
      /^Error: Task 1 would belong to alice instead of bob/,
    )
    expect(await say('task_list')).toBe('[ ] #1: A')
    expect(await ask('task_update', { task_id: 1, status: 'in_progress', owner: '' })).toMatchObject({ owner: 'alice' })
    expect(await ask('task_update', { task_id: 1, status: 'pending', owner: 'bob' })).toMatchObject({
      status: 'pending',
      owner: 'bob',
    })
  })
})

describe('task_list', () => {
  it('S4-033 task_list shows each task on a line: marker, number, subject, owner, blockers', async () => {
    const { engine, ask, say } = await openBoard()
    expect(await say('task_list')).toBe('No tasks.')
    for (const subject of ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta']) await ask('task_create', { subject })
    await ask('task_update', { task_id: 2, status: 'in_progress' })
    await ask('task_update', { task_id: 3, status: 'completed' })
    await ask('task_update', { task_id: 1, addBlockedBy: [2, 3] })
    await ask('task_update', { task_id: 4, status: 'failed' })
    await ask('task_update', { task_id: 5, status: 'deleted' })
    await ask('task_update', { task_id: 6, addBlockedBy: [2, 1] })
    expect(await say('task_list', {})).toBe(
      [
        '[ ] #1: Alpha (blocked by: [2])',
        '[>] #2: Beta @alice',
        '[x] #3: Gamma @alice',
        '[!] #4: Delta @alice',
        '[-] #5: Epsilon',
        '[ ] #6: Zeta (blocked by: [2, 1])',
      ].join('\n'),
    )
    await engine.bus.call('board:delete', { id: 2 })
    expect(await say('task_list', {})).toContain('[ ] #1: Alpha\n[x] #3: Gamma @alice')
  })

  it('S4-034 task_list is sorted by number, 2 before 10', async () => {
    const { ask, say } = await openBoard()
    for (let n = 1; n <= 12; n++) await ask('task_create', { subject: `task ${n}`, priority: n })
    const numbers = [...(await say('task_list')).matchAll(/#(\d+)/g)].map((match) => Number(match[1]))
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })
})

describe('boardTools', () => {
  it('boardTools of one ledger share their tasks under their own names; the default is the id of the engine', async () => {
    const { engine, ask } = await openBoard()
    const nameless = boardTools(engine)
    const answer = JSON.parse(await nameless.handlers.task_create({ subject: 'A' })) as { id: number }
    await nameless.handlers.task_update({ task_id: answer.id, status: 'in_progress' })
    expect(await ask('task_get', { task_id: answer.id })).toMatchObject({ owner: engine.instanceId })
    nameless.close()
  })

  it('boardTools with a board below a task have numbers of their own', async () => {
    const { engine, ask } = await openBoard()
    await ask('task_create', { subject: 'elsewhere' })
    const project = await ask('task_create', { subject: 'project' })
    await engine.bus.call('board:open', { board: 'part', parent: 2 })
    const part = agentOn(engine, 'carol', { board: 'part' })
    expect(await part.say('task_list')).toBe('No tasks.')
    expect(await part.ask('task_create', { subject: 'first' })).toMatchObject({ id: 1, parent: project['taskId'] })
    expect(await part.ask('task_update', { task_id: 1, status: 'in_progress' })).toMatchObject({ owner: 'carol' })
    expect(await part.say('task_list')).toBe('[>] #1: first @carol')
    expect(await ask('task_get', { task_id: 3 })).toMatchObject({ subject: 'first', parent: 2, owner: 'carol' })
    expect(await part.say('task_create', { subject: 'x', addBlockedBy: [2] })).toBe('Error: Task 2 not found')
    await refusalOf(engine.bus.call('board:open', { board: 'part', parent: 1 }), 'KEY_CONFLICT')
    await refusalOf(engine.bus.call('board:open', { board: mainBoard, parent: 2 }), 'INVALID_INPUT')
    await refusalOf(engine.bus.call('board:list', { board: 'nowhere' }), 'NOT_FOUND')
  })

  it('S4-058 boardTools claim a task for a role only with that role', async () => {
    const { engine, ask, say } = await openBoard()
    await engine.bus.call('board:create', { subject: 'test it', role: 'tester' })
    expect(await say('task_update', { task_id: 1, status: 'in_progress' })).toMatch(/^Error: .*for the role tester/)
    expect(await say('task_update', { task_id: 1, status: 'completed' })).toMatch(/^Error: .*for the role tester/)
    const tester = agentOn(engine, 'tess', { role: 'tester' })
    expect(await tester.ask('task_update', { task_id: 1, status: 'in_progress' })).toMatchObject({ owner: 'tess' })
    expect(await ask('task_get', { task_id: 1 })).toMatchObject({ owner: 'tess', role: 'tester' })
  })

  it('boardTools refuses unknown options', async () => {
    const engine = await openEngine()
    await refusalOf(() => boardTools(engine as never, { name: 'alice' } as never), 'UNKNOWN_OPTION')
    await refusalOf(() => boardTools(engine as never, { as: '' }), 'INVALID_INPUT')
    await refusalOf(() => boardTools(engine as never, { leaseMs: 5 }), 'INVALID_INPUT')
  })
})
