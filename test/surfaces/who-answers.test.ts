// Who may answer questions to people. A question is for people unless it says otherwise: the step that answers checks the caller, whatever
// surface the answer comes through, and so do the steps that would let other tasks continue without an answer.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Caller } from '../../src/bus/caller.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import { TaskEngine } from '../../src/engine/task-engine.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { Task } from '../../src/entities/task.ts'
import { ask, defineExecutor } from '../../src/index.ts'
import { openLedger } from '../../src/testing/index.ts'
import { callsOf, llm } from '../agents/world.ts'
import { openManager } from '../compat/agent-os/world.ts'
import { history, openEngine, reached, refusalOf } from '../engine/world.ts'
import { whole } from '../operations/steps/whole-row.ts'
import { openWorld } from './http/world.ts'
import { connectByHand, modernRequest, tasksExtension, toolErrorOf } from './mcp/world.ts'

const executors = {
  ask,
  build: () => 'built',
  deploy: () => 'deployed',
  work: (task: ExecutorTask, run: Run) => run.ask('Which?', { type: 'string' }, task.input as object),
}

/** A plan that deploys nothing before a person has approved it. */
async function release(options: object = {}, input: object = {}) {
  const engine = (await openEngine({ executors, ...options })) as unknown as Engine
  const group = await engine.create({
    name: 'release',
    tasks: {
      approve: { executor: 'ask', input: { question: 'Deploy?', ...input } },
      build: { executor: 'build', after: ['approve'] },
      deploy: { executor: 'deploy', after: ['build'] },
    },
  })
  const [approve, build, deploy] = (await engine.children(group)) as [Task, Task, Task]
  return { engine, group, approve, build, deploy }
}

/** The same plan, once its question is open. */
async function asking(input: object = {}) {
  const world = await release({}, input)
  return { ...world, approve: await reached(world.engine, world.approve, 'input_required') }
}

const call = ({ bus }: Engine, abilityId: string, input: object, caller: Caller) =>
  bus.call(abilityId as string, input, { caller }) as Promise<unknown>

/** Callers that may not answer for people, for a task above the question. */
const untrusted: Record<string, (above: string) => Caller> = {
  'a client over MCP': () => ({ surface: 'mcp', model: true, owner: 'ada' }),
  'the model of a task above': (taskId) => ({ surface: 'model', taskId, run: 1 }),
  'the run of a task above': (taskId) => ({ surface: 'run', taskId, run: 1 }),
  'HTTP credentials that name a task': (taskId) => ({ surface: 'http', scopes: ['admin'], taskId }),
  'HTTP credentials of a model': () => ({ surface: 'http', scopes: ['admin'], model: true }),
  'the tools of a model': () => ({ surface: 'tools', owner: 'ada' }),
  'files that models write': () => ({ surface: 'files' }),
}

const people: Array<[who: string, caller: Caller, answeredBy: object]> = [
  ['the program', { surface: 'library' }, { surface: 'library' }],
  ['the command line', { surface: 'cli' }, { surface: 'cli' }],
  ['the REPL', { surface: 'repl' }, { surface: 'repl' }],
  ['a person over HTTP', { surface: 'http', owner: 'ann', scopes: ['control'] }, { surface: 'http', owner: 'ann' }],
  ['a person in a chat', { surface: 'chat', owner: 'ann', scopes: ['control'] }, { surface: 'chat', owner: 'ann' }],
]

/** Every way to continue with the deployment without an answer. */
const detours = (approve: Task, build: Task): Array<[abilityId: string, input: object]> => [
  ['task:complete', { taskId: approve.id, result: 'yes' }],
  ['board:update', { id: approve.id, status: 'completed', result: 'yes' }],
  ['board:delete', { id: approve.id }],
  ['board:update', { id: build.id, removeBlockedBy: [approve.id] }],
  ['board:update', { id: approve.id, removeBlocks: [build.id] }],
  ['task:delete', { taskId: approve.id }],
  ['task:unblock', { taskId: build.id, blockedBy: [approve.id] }],
  ['task:update', { taskId: build.id, blockedBy: [] }],
  ['task:update', { taskId: build.id, onDependencyFailure: 'ignore' }],
  ['task:update', { taskId: approve.id, input: { question: 'Deploy?', default: 'yes', timeoutMs: 1 } }],
]

describe.each(Object.entries(untrusted))('%s', (_name, callerBelow) => {
  it('V-03 a caller that may not answer for people may not answer a question of a plan by any ability or message', async () => {
    const { engine, group, approve, deploy } = await asking({ default: 'yes' })
    const caller = callerBelow(group.id)
    const question = approve.questions[0]?.id as string
    for (const input of [{ value: 'yes' }, { value: 'yes', question }, {}]) {
      const refusal = await refusalOf(
        call(engine, 'task:answer', { taskId: approve.id, ...input }, caller),
        'FORBIDDEN',
      )
      expect(refusal.message).toContain('for people')
    }
    await call(engine, 'task:send', { taskId: approve.id, message: 'yes' }, caller)
    expect(await engine.get(approve)).toMatchObject({ status: 'input_required', questions: [{ id: question }] })
    expect((await engine.get(deploy))?.status).toBe('submitted')
    await engine.answer(approve, 'no')
    expect(await engine.result(approve)).toBe('no')
  })

  it.each(['before it asks', 'while it asks'])(
    'V-03 a caller that may not answer for people may not bypass a question, %s',
    async (when) => {
      const world = when === 'while it asks' ? await asking() : await release({ autoStart: false })
      const { engine, group, approve, build, deploy } = world
      const caller = callerBelow(group.id)
      for (const [abilityId, input] of detours(approve, build))
        await refusalOf(call(engine, abilityId, input, caller), 'FORBIDDEN')
      const statuses = (await engine.children(group)).map(({ status }) => status)
      expect(statuses).toEqual([approve.status, 'submitted', 'submitted'])
      expect((await engine.get(deploy))?.blockedBy).toEqual([build.id])
      expect((await engine.get(approve))?.input).toEqual(approve.input)
    },
  )

  it('V-03 a caller that may not answer for people may not remove dependencies between a question and the tasks after it', async () => {
    const { engine, group, approve, build, deploy } = await asking()
    const caller = callerBelow(group.id)
    for (const [abilityId, input] of [
      ['board:delete', { id: build.id }],
      ['board:update', { id: deploy.id, removeBlockedBy: [build.id] }],
    ] as const)
      await refusalOf(call(engine, abilityId, input, caller), 'FORBIDDEN')
    // A question that is no longer open has not been answered either.
    await call(engine, 'task:cancel', { taskId: approve.id }, caller)
    await refusalOf(call(engine, 'board:delete', { id: approve.id }, caller), 'FORBIDDEN')
    expect((await engine.get(deploy))?.status).toBe('submitted')
    // A person may.
    await engine.unblock(build, approve)
    expect(await engine.result(deploy)).toBe('deployed')
  })

  it('a caller that may not answer for people may answer a question for any client, and the record names the answerer', async () => {
    const { engine, group, approve, deploy } = await asking({ for: 'anyone' })
    const caller = callerBelow(group.id)
    await call(engine, 'task:answer', { taskId: approve.id, value: 'yes' }, caller)
    expect(await engine.result(deploy)).toBe('deployed')
    const { surface, owner, taskId } = caller
    const answered = (await history(engine, approve.id)).find(({ type }) => type === 'task.answered')
    expect(answered?.data['answeredBy']).toEqual(JSON.parse(JSON.stringify({ surface, owner, taskId })))
  })
})

describe.each(people)('%s', (_name, caller, answeredBy) => {
  it('a caller that answers for people may answer, and both the event and the journal name the answerer and the surface', async () => {
    const ledger = await openLedger(':memory:')
    onTestFinished(() => ledger.close())
    const { engine, approve, deploy } = await release({ ledger })
    const { questions } = await reached(engine, approve, 'input_required')
    await call(engine, 'task:answer', { taskId: approve.id, value: 'yes' }, caller)
    expect(await engine.result(deploy)).toBe('deployed')
    const answered = (await history(engine, approve.id)).find(({ type }) => type === 'task.answered')
    expect(answered?.data).toMatchObject({ questionId: questions[0]?.id, answer: 'yes', answeredBy })
    expect(answered?.data['requestedBy']).toEqual(caller.surface === 'library' ? undefined : answeredBy)
    const [entry] = await ledger.read((tx) => tx.call.list(approve.id, ['ask']))
    expect(entry).toMatchObject({ status: 'completed', result: 'yes', details: { answeredBy } })
  })

  it('a caller that answers for people may answer with a message', async () => {
    const engine = (await openEngine({ executors })) as unknown as Engine
    const task = await reached(engine, await engine.create({ executor: 'work', input: {} }), 'input_required')
    await call(engine, 'task:send', { taskId: task.id, message: 'this one' }, caller)
    expect(await engine.result(task)).toBe('this one')
    const answered = (await history(engine, task.id)).find(({ type }) => type === 'task.answered')
    expect(answered?.data['answeredBy']).toEqual(answeredBy)
  })
})

it('a question records whom it is for', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  for (const [input, audience] of [
    [{}, 'person'],
    [{ for: 'person' }, 'person'],
    [{ for: 'anyone' }, 'anyone'],
  ] as const) {
    const task = await reached(engine, await engine.create({ executor: 'work', input }), 'input_required')
    expect(task.questions).toMatchObject([{ for: audience }])
    const asked = (await history(engine, task.id)).find(({ type }) => type === 'question.asked')
    expect(asked?.data['for']).toBe(audience)
  }
  const { id } = await engine.create({ executor: 'work', input: { for: 'machines' } })
  expect(await engine.settled(id)).toMatchObject({ status: 'failed', error: { code: 'INVALID_INPUT' } })
  await refusalOf(engine.create({ executor: 'ask', input: { question: 'x', for: 'machines' } }), 'INVALID_INPUT')
})

it('V-03 a question gets no default by an update of the state, and is not bypassed by other methods of an engine with restrictions', async () => {
  const { engine, group, approve, build } = await asking({ default: 'yes' })
  const bounded = TaskEngine.within(engine as unknown as TaskEngine, { surface: 'run', taskId: group.id, run: 1 })
  await refusalOf(bounded.update(approve.id, { status: 'working' }), 'FORBIDDEN')
  await refusalOf(bounded.answer(approve.id), 'FORBIDDEN')
  await refusalOf(bounded.complete(approve.id, 'yes'), 'FORBIDDEN')
  await refusalOf(bounded.delete(approve.id), 'FORBIDDEN')
  await refusalOf(bounded.unblock(build.id, approve.id), 'FORBIDDEN')
  await refusalOf(bounded.update(build.id, { blockedBy: [] }), 'FORBIDDEN')
  expect((await engine.get(approve))?.status).toBe('input_required')
  await engine.update(approve, { status: 'working' })
  expect(await engine.result(approve)).toBe('yes')
})

it('a question that is answered by its default after a time-out has no answerer', async () => {
  const { engine, approve } = await release({}, { default: 'no', timeoutMs: 1 })
  expect(await engine.result(approve)).toBe('no')
  const types = (await history(engine, approve.id)).map(({ type }) => type)
  expect(types).toContain('timer.fired')
  expect(types).not.toContain('task.answered')
})

it('a question of an executor that does not declare questions protects its dependents, too, while it is open', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  const task = await reached(engine, await engine.create({ executor: 'work', input: {} }), 'input_required')
  const after = await engine.create({ executor: 'deploy', blockedBy: [task.id] })
  const model: Caller = { surface: 'mcp', model: true }
  for (const [abilityId, input] of [
    ['task:complete', { taskId: task.id, result: 'yes' }],
    ['board:delete', { id: task.id }],
    ['board:update', { id: after.id, removeBlockedBy: [task.id] }],
  ] as const)
    await refusalOf(call(engine, abilityId, input, model), 'FORBIDDEN')
  await engine.answer(task, 'yes')
  expect(await engine.result(after)).toBe('deployed')
})

it('V-03 a question refuses a person whose credentials name a task, a model and the tools of a model, each with its own reason', async () => {
  const { engine, group, approve } = await asking()
  const question = approve.questions[0]?.id as string
  for (const [caller, reason] of [
    [
      { surface: 'http', owner: 'ann', scopes: ['admin'], taskId: group.id },
      `this caller acts for task ${group.id} (\`taskId\`, surface "http")`,
    ],
    [{ surface: 'mcp', model: true }, 'this caller is a model'],
    [{ surface: 'tools', owner: 'ada' }, 'this caller comes through "tools", which models use'],
  ] as Array<[Caller, string]>) {
    const answered = await refusalOf(
      call(engine, 'task:answer', { taskId: approve.id, value: 'x' }, caller),
      'FORBIDDEN',
    )
    expect(answered.message).toContain(
      `question ${question} of ${approve.id}: it is for people, and ${reason}. A person`,
    )
    const ended = await refusalOf(call(engine, 'task:complete', { taskId: approve.id }, caller), 'FORBIDDEN')
    expect(ended.message).toBe(
      `Cannot complete ${approve.id}: its question ${question} is open and for people, and ${reason}. Wait until a person has answered, or have a person make this change.`,
    )
  }
})

it('V-03 a client may not complete a task whose executor asks people, or whose executor no engine has published, and the refusal says which', async () => {
  const ledger = await openLedger(':memory:')
  onTestFinished(() => ledger.close())
  const engine = (await openEngine({ ledger, executors })) as unknown as Engine
  const model: Caller = { surface: 'mcp', model: true }
  for (const [executor, message] of [
    ['ask', 'its executor "ask" asks people for its result, and this caller is a model. Wait until'],
    [
      'elsewhere',
      'no engine has published in this ledger whether its executor "elsewhere" asks people, so its result may be a person\'s answer, and this caller is a model. Start an engine with the executor "elsewhere" on this ledger',
    ],
  ] as const) {
    const id = `task-${executor}`
    await ledger.step({
      name: 'another process',
      *decide(tx) {
        yield* tx.task.insert(whole({ id, executor }))
      },
    })
    const refusal = await refusalOf(call(engine, 'task:complete', { taskId: id }, model), 'FORBIDDEN')
    expect(refusal.message).toContain(`Cannot complete ${id}: ${message}`)
  }
})

it('V-03 a question may not be replaced by completing its task while its run is in progress', async () => {
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = defineExecutor({
    asksPeople: true,
    run: async (_task, run) => {
      begun.resolve()
      await goOn.promise
      return run.ask('Deploy?')
    },
  })
  const engine = (await openEngine({ executors: { slow } })) as unknown as Engine
  const { id } = await engine.create({ executor: 'slow' })
  await begun.promise
  const model: Caller = { surface: 'mcp', model: true }
  await refusalOf(call(engine, 'board:complete', { id, result: 'yes' }, model), 'FORBIDDEN')
  const bounded = TaskEngine.within(engine as unknown as TaskEngine, model)
  await refusalOf(bounded.complete(id, 'yes'), 'FORBIDDEN')
  await refusalOf(bounded.update(id, { status: 'completed' }), 'FORBIDDEN')
  goOn.resolve()
  await reached(engine, id, 'input_required')
  await engine.answer(id, 'no')
  expect(await engine.result(id)).toBe('no')
})

it('V-03 a client over MCP with default abilities does not approve a plan, and the refusal says why', async () => {
  const { engine, approve, build, deploy } = await asking()
  const client = connectByHand(engine, { as: 'ada' })
  onTestFinished(() => void client.input.end())
  for (const [name, input] of [
    ['task_answer', { taskId: approve.id, value: 'yes' }],
    ['board_complete', { id: approve.id, result: 'yes' }],
    ['board_delete', { id: approve.id }],
    ['board_update', { id: build.id, removeBlockedBy: [approve.id] }],
  ] as const) {
    const { code, message } = toolErrorOf(await client.call(name, input))
    expect({ code, message }).toEqual({ code: 'FORBIDDEN', message: expect.stringMatching(/person/) as string })
  }
  const waited = await client.call('task_wait', { taskIds: [approve.id], timeoutMs: 1 })
  expect(waited.content[1]?.text).toContain('until a person answers')
  expect((await engine.get(deploy))?.status).toBe('submitted')
})

it('V-03 a handle over MCP has a form for what anyone may answer, and none for what people are asked', async () => {
  const engine = (await openEngine({ executors })) as unknown as Engine
  const client = connectByHand(engine)
  onTestFinished(() => void client.input.end())
  const capabilities = { elicitation: {}, extensions: { [tasksExtension]: {} } }
  for (const [input, status, forms] of [
    [{}, 'working', 0],
    [{ for: 'anyone' }, 'input_required', 1],
  ] as const) {
    const task = await reached(engine, await engine.create({ executor: 'work', input }), 'input_required')
    const { result } = await client.ask(modernRequest('tasks/get', { taskId: task.id }, capabilities))
    expect(result).toMatchObject({ status, statusMessage: 'Which?' })
    expect(Object.keys(result.inputRequests ?? {})).toHaveLength(forms)
  }
})

it('V-03 an agent does not answer its subtask instead of a person', async () => {
  let asked = ''
  const model = llm((_input, step) => {
    const give = (name: string, given: object) => ({ toolCalls: [{ id: `c${step}`, name, arguments: given }] })
    if (step === 1) return give('task_answer', { taskId: asked, value: 'yes' })
    if (step === 2) return give('task_complete', { taskId: asked, result: 'yes' })
    if (step === 3) return give('board_delete', { id: asked })
    return { content: 'I may not.' }
  })
  const engine = (await openEngine({ executors, abilities: [model.ability] })) as unknown as Engine
  const parent = await engine.create({ goal: 'Approve it', autoStart: false })
  const child = await engine.create({ executor: 'ask', input: { question: 'Deploy?' }, parentId: parent.id })
  asked = (await reached(engine, child, 'input_required')).id
  await engine.start(parent)
  expect(await engine.result(parent)).toBe('I may not.')
  expect(await callsOf(engine, parent)).toEqual([
    'task:answer failed FORBIDDEN',
    'task:complete failed FORBIDDEN',
    'board:delete failed FORBIDDEN',
  ])
  expect((await engine.get(child.id))?.status).toBe('input_required')
})

it('V-03 HTTP answers for people with credentials of a person only', async () => {
  const principals = {
    person: { scopes: ['control'], owner: 'ann' },
    model: { scopes: ['control'], owner: 'bot', model: true },
  } as const
  const { engine, ask: request } = await openWorld(
    { authenticate: (each) => principals[each.headers.get('x-who') as keyof typeof principals] ?? null },
    { executors },
  )
  const { id } = await reached(engine, await engine.create({ executor: 'work', input: {} } as never), 'input_required')
  const answer = (who: string) => request('POST', `/tasks/${id}/answer`, { value: 'yes' }, { 'x-who': who })
  expect(await answer('model')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  expect((await answer('person')).status).toBe(200)
  expect(await engine.result(id)).toBe('yes')
})

it('V-03 a message on the bus of Agent OS answers a question when a person sends it', async () => {
  const { bus, engine } = await openManager({ executors })
  const task = await reached(engine, await engine.create({ executor: 'work', input: {} } as never), 'input_required')
  const send = (caller: Caller) => bus.call('task:send', { taskId: task.id, message: 'yes' }, { caller })
  await send({ surface: 'mcp', model: true })
  expect((await engine.get(task.id))?.status).toBe('input_required')
  await send({ surface: 'library' })
  expect(await engine.result(task.id)).toBe('yes')
})
