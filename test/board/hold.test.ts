// Operations of a task's owner on the board, and refusals for clients that are not its owner or no longer are.
import { describe, expect, it } from 'vitest'
import { puppet, reached, refusalOf } from '../engine/world.ts'
import { agentOn, codeOf, everything, graph, openBoard, taskOf } from './world.ts'

describe('board:complete', () => {
  it('S4-056 board:complete refuses a task that is pending, failed, deleted, or completed by another owner', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: '', d: 'a' })
    await engine.bus.call('board:update', { id: 2, status: 'failed', as: 'alice' })
    await engine.bus.call('board:update', { id: 3, status: 'deleted' })
    const said = async (id: number, as = 'alice') =>
      (await refusalOf(engine.bus.call('board:complete', { id, as }), 'INVALID_TRANSITION')).message
    const before = await everything(engine)
    expect(await said(1)).toBe('Task 1 is pending: claim it before you complete it')
    expect(await said(4)).toBe('Task 4 is pending: claim it before you complete it')
    expect(await said(2)).toBe('Task 2 is failed: set it to pending to try it again, then claim it')
    expect(await said(3)).toBe('Task 3 is deleted: create a new task instead')
    expect(await everything(engine)).toBe(before)
    await engine.bus.call('board:claim', { id: 1, as: 'alice' })
    await engine.bus.call('board:complete', { id: 1, as: 'alice', result: { lines: 7 } })
    expect(await said(1, 'bob')).toBe('Task 1 is already completed, by alice')
  })

  it('S4-055 completing a task again with the same result changes nothing; another result is refused', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: 'a' })
    const { task } = await engine.bus.call('board:claim', { id: 1, as: 'alice' })
    const claim = { id: 1, as: 'alice', fence: task.fence }
    const first = await engine.bus.call('board:complete', { ...claim, result: { lines: 7 } })
    expect(first).toMatchObject({ task: { result: { lines: 7 }, owner: 'alice' }, unblocked: [{ id: 2 }] })
    const before = await everything(engine)
    expect(await engine.bus.call('board:complete', claim)).toMatchObject({ task: first.task, unblocked: [] })
    await engine.bus.call('board:complete', { ...claim, result: { lines: 7 } })
    for (const result of [{ lines: 8 }, null]) {
      const again = engine.bus.call('board:complete', { ...claim, result })
      expect((await refusalOf(again, 'INVALID_TRANSITION')).message).toContain('already completed, by alice')
    }
    await refusalOf(engine.bus.call('board:complete', { ...claim, fence: task.fence + 1 }), 'INVALID_TRANSITION')
    expect(await everything(engine)).toBe(before)
  })

  it('S4-055 board:complete by another owner or with a stale fence is refused, with board numbers in the message', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '' })
    const { task } = await engine.bus.call('board:claim', { id: 1, as: 'alice', leaseMs: 60_000 })
    const complete = (as: string, fence?: number) =>
      engine.bus.call('board:complete', { id: 1, as, ...(fence === undefined ? {} : { fence }) })
    expect((await refusalOf(complete('bob'), 'NOT_OWNER')).message).toMatch(/^Task 1 is worked on by alice, not by bob/)
    await refusalOf(complete('alice'), 'STALE_CLAIM')
    await engine.bus.call('board:release', { id: 1, as: 'alice', fence: task.fence, reason: 'lunch' })
    await engine.bus.call('board:claim', { id: 1, as: 'bob' })
    expect((await refusalOf(complete('alice', task.fence), 'STALE_CLAIM')).message).toMatch(/task 1/)
    expect(await taskOf(engine, 1)).toMatchObject({ owner: 'bob', status: 'in_progress' })
    const { claims } = await engine.bus.call('board:log', { id: 1 })
    expect(claims).toMatchObject([
      { id: 1, event: 'claimed', owner: 'alice', fence: 1, source: 'library' },
      { id: 1, event: 'released', owner: 'alice', fence: 1, reason: 'lunch' },
      { id: 1, event: 'claimed', owner: 'bob', fence: 2 },
    ])
  })
})

describe('board:release', () => {
  it('S4-057 board:release accepts the owner of a claim or the assignee of a pending task, and refuses others', async () => {
    const board = await openBoard()
    const { engine } = board
    await graph(board, { a: '', b: '', c: '' })
    await engine.bus.call('board:claim', { id: 1, as: 'alice' })
    await engine.bus.call('board:update', { id: 2, owner: 'alice' })
    const before = await everything(engine)
    for (const id of [1, 2]) await refusalOf(engine.bus.call('board:release', { id, as: 'bob' }), 'NOT_OWNER')
    await refusalOf(engine.bus.call('board:release', { id: 3, as: 'alice' }), 'INVALID_TRANSITION')
    expect(await everything(engine)).toBe(before)
    for (const id of [1, 2]) {
      const { task } = await engine.bus.call('board:release', { id, as: 'alice' })
      expect(task).toMatchObject({ id, status: 'pending', owner: '', ready: true })
    }
    expect((await engine.bus.call('board:claim_next', { as: 'bob' })).task).toMatchObject({ id: 1, owner: 'bob' })
  })
})

describe('Fields without effect', () => {
  it.each([
    [{ result: 1 }, 'result'],
    [{ result: 1, status: 'failed' }, 'result'],
    [{ reason: 'why' }, 'reason'],
    [{ reason: 'why', status: 'in_progress' }, 'reason'],
    [{ reason: 'why', status: 'completed' }, 'reason'],
    [{ fence: 1, status: 'completed' }, 'fence'],
  ])('board:update refuses fields without effect: %j', async (patch, field) => {
    const { engine, ask } = await openBoard()
    await ask('task_create', { subject: 'a' })
    const { message } = await refusalOf(
      engine.bus.call('board:update', { id: 1, subject: 'b', ...patch } as never),
      'INVALID_INPUT',
    )
    expect(message).toContain(`\`${field}\``)
    expect(await taskOf(engine, 1)).toMatchObject({ subject: 'a' })
  })

  it('board fields of a task that is not on the board are refused', async () => {
    const { engine, ask } = await openBoard()
    const project = await ask('task_create', { subject: 'project' })
    await engine.bus.call('board:open', { board: 'part', parent: 1 })
    const id = project['taskId'] as string
    await refusalOf(
      engine.bus.call('board:update', { id, board: 'part', activeForm: 'Doing', subject: 'x' }),
      'NOT_FOUND',
    )
    expect(await taskOf(engine, 1)).toMatchObject({ subject: 'project' })
    expect((await engine.bus.call('board:update', { id, board: 'part', subject: 'x' })).task.subject).toBe('x')
  })
})

describe('Tasks of executors and groups on the board', () => {
  it('S4-046 a task with an executor is run rather than claimed, and unblocks its dependents', async () => {
    const work = puppet()
    const { engine, ask, say } = await openBoard({ executors: { work: work.executor } })
    await engine.bus.call('board:create', { subject: 'run', executor: 'work', input: { n: 1 } })
    await ask('task_create', { subject: 'after', addBlockedBy: [1] })
    const run = await work.started(0)
    expect(run.task.input).toEqual({ n: 1 })
    expect(await ask('task_get', { task_id: 1 })).toMatchObject({ status: 'in_progress', owner: '' })
    for (const status of ['in_progress', 'pending'])
      expect(await say('task_update', { task_id: 1, status })).toMatch(/^Error: .*[Tt]ask 1/)
    expect(await say('task_update', { task_id: 1, owner: 'alice' })).toMatch(/^Error: .*its executor work runs it/)
    expect(await codeOf(engine.bus.call('board:claim', { id: 1, as: 'alice' }))).toBe('NOT_CLAIMABLE')
    run.end.resolve('done')
    const { taskId } = await taskOf(engine, 2)
    await reached(engine, taskId, (task) => task.blockedBy.length === 0)
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'completed', result: 'done', executor: 'work' })
    expect(await ask('task_update', { task_id: 2, status: 'completed' })).toMatchObject({ owner: 'alice' })
  })

  it('S4-046 setting a queued task to deleted cancels it, and its dependents stay blocked', async () => {
    const { engine, ask } = await openBoard({ executors: { work: () => 'done' } })
    await ask('task_create', { subject: 'first' })
    await engine.bus.call('board:create', { subject: 'run', executor: 'work', blockedBy: [1] })
    await ask('task_create', { subject: 'after', addBlockedBy: [2] })
    await ask('task_update', { task_id: 2, status: 'deleted' })
    expect(await ask('task_update', { task_id: 1, status: 'completed' })).not.toHaveProperty('unblocked')
    expect(await taskOf(engine, 2)).toMatchObject({ status: 'deleted', canonicalStatus: 'canceled', blockedBy: [] })
    expect(await taskOf(engine, 3)).toMatchObject({ blockedBy: [2] })
  })

  it('a group is in progress without an owner while its children are done', async () => {
    const { engine, ask, say } = await openBoard()
    await engine.create({ name: 'group', tasks: { one: { name: 'one' }, two: { name: 'two', after: ['one'] } } })
    expect(await say('task_list')).toBe('[ ] #1: group\n[ ] #2: one\n[ ] #3: two (blocked by: [2])')
    expect(await say('task_update', { task_id: 1, status: 'in_progress' })).toMatch(/^Error: .*it is a group/)
    expect(await say('task_update', { task_id: 1, owner: 'alice' })).toMatch(/^Error: .*it is a group/)
    await ask('task_update', { task_id: 2, status: 'in_progress' })
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'in_progress', owner: '' })
    await ask('task_update', { task_id: 2, status: 'completed' })
    await ask('task_update', { task_id: 3, status: 'completed' })
    expect(await taskOf(engine, 1)).toMatchObject({ status: 'completed' })
  })

  it('a program may name an executor and a model may not; an unknown executor is refused with the known ones', async () => {
    const { engine } = await openBoard({ executors: { work: () => 'done' } })
    await refusalOf(engine.bus.call('board:create', { subject: 'run', executor: 'wrok' }), 'UNKNOWN_EXECUTOR')
    await refusalOf(engine.bus.call('board:create', { subject: 'run', executor: 'work', owner: 'x' }), 'NOT_CLAIMABLE')
    expect((await engine.bus.call('board:list', {})).total).toBe(0)
  })
})

describe('Two at once', () => {
  it('S4-052 of many clients setting one task in_progress one succeeds, and the others learn the owner', async () => {
    const { engine, ask } = await openBoard()
    await ask('task_create', { subject: 'a' })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        agentOn(engine, `agent-${n}`).say('task_update', { task_id: 1, status: 'in_progress' }),
      ),
    )
    const won = answers.filter((answer) => !answer.startsWith('Error:'))
    expect(won).toHaveLength(1)
    const { owner } = JSON.parse(won[0] as string) as { owner: string }
    for (const answer of answers.filter((each) => each.startsWith('Error:')))
      expect(answer).toBe(`Error: Task 1 is already in_progress, and ${owner} owns it`)
  })

  it('S4-009 concurrent updates of one task all take effect: texts, edges and metadata', async () => {
    const { engine, ask } = await openBoard()
    for (let n = 1; n <= 21; n++) await ask('task_create', { subject: `t${n}` })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        agentOn(engine, `agent-${n}`).ask('task_update', {
          task_id: 1,
          metadata: { [`key${n}`]: n },
          addBlockedBy: [n + 2],
          ...(n % 2 === 0 ? { subject: `by ${n}` } : { description: `by ${n}` }),
        }),
      ),
    )
    const task = await taskOf(engine, 1)
    expect(Object.keys(task.metadata)).toHaveLength(20)
    expect(task.blockedBy).toHaveLength(20)
    expect(task.subject).toMatch(/^by \d*[02468]$/)
    expect(task.description).toMatch(/^by \d*[13579]$/)
  })

  it('S4-009 concurrently created tasks get distinct numbers without gaps', async () => {
    const { engine } = await openBoard()
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        n % 3 === 0
          ? engine.create({ name: `elsewhere ${n}` }).then(() => undefined)
          : engine.bus.call('board:create', { subject: `s${n}` }).then(({ task }) => task.id),
      ),
    )
    const numbers = made.filter((each) => each !== undefined)
    expect(new Set(numbers).size).toBe(40)
    const { tasks } = await engine.bus.call('board:list', {})
    expect(tasks.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1))
  })

  it('S4-030 completing a blocker and its dependent concurrently refuses the dependent or completes it second', async () => {
    for (let round = 0; round < 10; round++) {
      const board = await openBoard()
      const { engine } = board
      await graph(board, { a: '', b: 'a' })
      const [first, second] = await Promise.all(
        [1, 2].map((id) => codeOf(engine.bus.call('board:update', { id, status: 'completed' }))),
      )
      expect(first).toBe('ok')
      expect(await taskOf(engine, 2)).toMatchObject({ status: second === 'ok' ? 'completed' : 'pending' })
      expect(['ok', 'BLOCKED']).toContain(second)
    }
  })
})

describe('A session of tools', () => {
  it('S4-055 a session that lost its claim is refused once as stale, and then judged without the claim', async () => {
    const { engine } = await openBoard()
    const first = agentOn(engine, 'carol')
    const second = agentOn(engine, 'carol')
    await first.ask('task_create', { subject: 'a' })
    await first.ask('task_update', { task_id: 1, status: 'in_progress' })
    await second.ask('task_update', { task_id: 1, status: 'pending' })
    await second.ask('task_update', { task_id: 1, status: 'in_progress' })
    expect(await first.say('task_update', { task_id: 1, status: 'completed' })).toMatch(/^Error: .*is not valid/)
    expect(await first.ask('task_update', { task_id: 1, status: 'completed' })).toMatchObject({ status: 'completed' })
  })
})
