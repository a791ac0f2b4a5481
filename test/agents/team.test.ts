// Agents that work in a team: each has a stint, on a branch of memory of its own, where its calls and answers are
// observed.
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/entities/message.ts'
import { deferred, puppet, reached } from '../engine/world.ts'
import { archive, left, observationsOf, observed, openWithLedger, says, scripted, stintsOf } from './team-world.ts'
import { echo, gatedTool, tool } from './world.ts'

describe('an agent of a team', () => {
  it('an agent of a team has a stint from its first run on, under the name of its executor or a given one', async () => {
    const { engine, ledger } = await openWithLedger({
      executors: { reader: says('Read.').executor, writer: says('Written.').executor, plain: () => 1 },
    })
    const group = await engine.create({
      name: 'Fix the login',
      team: true,
      tasks: {
        read: { executor: 'reader', goal: 'Read' },
        write: { executor: 'writer', goal: 'Write', agentId: 'Anna' },
        count: { executor: 'plain' },
      },
    })
    await engine.result(group)
    const [read, write] = await engine.children(group.id)
    expect(await stintsOf(ledger, group.id)).toMatchObject([
      { agentId: 'reader', workerId: read?.id, branch: 'task/fix-the-login/reader', number: 1 },
      {
        agentId: 'Anna',
        workerId: write?.id,
        branch: expect.stringMatching(/^task\/fix-the-login\/anna$/i),
        number: 1,
      },
    ])
  })

  it('an agent of a team gets another name while another agent works under its own, and keeps it', async () => {
    const slow = gatedTool('test:slow')
    const worker = scripted([{ tools: [{ name: 'test_slow' }] }, { text: 'Done.' }])
    const { engine, ledger } = await openWithLedger({
      executors: { worker: worker.executor },
      abilities: [slow.ability],
    })
    const goal = { executor: 'worker', goal: 'Work' } as const
    const group = await engine.create({ name: 'Work', team: true, tasks: { one: goal, two: goal } })
    const calls = [await slow.began(0), await slow.began(1)]
    const [one, two] = await engine.children(group.id)
    const names = ['worker', `worker-${two?.seq}`]
    expect((await stintsOf(ledger, group.id)).map(({ agentId, workerId }) => [agentId, workerId])).toEqual([
      [names[0], one?.id],
      [names[1], two?.id],
    ])
    const stored = await ledger.read((tx) => tx.task.get(two?.id as string))
    expect(stored?.policy.team).toEqual({ taskId: group.id, agentId: names[1] })
    for (const call of calls) call.end('slept')
    await engine.result(group)
    const found = await observationsOf(ledger, group.id)
    expect(new Set(found.map(({ agentId, sessionId }) => `${agentId} ${sessionId}`))).toEqual(
      new Set([`${names[0]} ${one?.id}`, `${names[1]} ${two?.id}`]),
    )
  })

  it('an agent of a team continues in the same stint after a suspension', async () => {
    const asking = scripted([{ tools: [{ name: 'ask_user', input: { question: 'Which?' } }] }, { text: 'That.' }])
    const { engine, ledger } = await openWithLedger({ executors: { asking: asking.executor } })
    const task = await engine.create({ executor: 'asking', goal: 'Ask', team: true })
    await reached(engine, task, 'input_required')
    await engine.answer(task.id, 'this one')
    await engine.result(task)
    expect((await engine.get(task.id))?.run).toBe(2)
    expect(await stintsOf(ledger, task.id)).toMatchObject([{ number: 1, workerId: task.id, agentId: 'asking' }])
  })

  it('an agent works without a team that ended before it began, or whose branch is closed', async () => {
    const { engine, ledger } = await openWithLedger({
      executors: { late: says('Late.').executor, boss: () => 'enough' },
    })
    for (const end of [(teamId: string) => engine.start(teamId), (teamId: string) => archive(ledger, teamId)]) {
      const team = await engine.create({ executor: 'boss', team: true, autoStart: false })
      const worker = await engine.create({ executor: 'late', goal: 'Come late', parentId: team.id, autoStart: false })
      await end(team.id)
      await engine.idle()
      await engine.start(worker.id)
      expect(await engine.result(worker)).toBe('Late.')
      expect(await stintsOf(ledger, team.id)).toEqual([])
      expect(await observationsOf(ledger, team.id)).toEqual([])
    }
  })

  it('an agent of a team loses its stint, but not its work, when its branch is closed meanwhile', async () => {
    const slow = gatedTool('test:slow')
    const worker = scripted([{ tools: [{ name: 'test_slow' }] }, { text: 'Done.' }])
    const { engine, ledger } = await openWithLedger({
      executors: { worker: worker.executor },
      abilities: [slow.ability],
    })
    const team = await engine.create({ executor: 'worker', goal: 'Work', team: true })
    const call = await slow.began(0)
    await archive(ledger, team.id, 'worker')
    call.end('slept')
    expect(await engine.result(team)).toBe('Done.')
    expect(await observationsOf(ledger, team.id)).toEqual([])
    await left(engine, team.id, 'worker')
  })

  it('an agent of a team has one observation for each call of its model with its outcome and for each answer, and no others', async () => {
    const bang = tool('test:boom', () => {
      throw new Error('bang')
    })
    const worker = scripted([
      {
        text: 'I look first.',
        tools: [
          { name: 'test_echo', input: { text: 'seen' } },
          { name: 'test_boom', input: { at: 1 } },
          { name: 'none' },
        ],
      },
      { text: 'The login lost its cookie.' },
    ])
    const { engine, ledger } = await openWithLedger({
      executors: { worker: worker.executor, plain: (_task, run) => run.call('count', () => 1) },
      abilities: [echo, bang],
    })
    const group = await engine.create({
      name: 'Look',
      team: true,
      tasks: { look: { executor: 'worker', goal: 'Look' }, count: { executor: 'plain' } },
    })
    await engine.result(group)
    const [look] = await engine.children(group.id)
    const found = await observationsOf(ledger, group.id)
    expect(observed(found).sort()).toEqual([
      'worker error none {} → Ability not found: none',
      'worker error test:boom {"at":1} → bang',
      'worker insight The login lost its cookie.',
      'worker tool_use test:echo {"text":"seen"} → seen',
    ])
    const calls = await engine.calls(look?.id as string)
    const answer = (await engine.messages(look?.id as string)).at(-1) as Message
    expect(found.map(({ id }) => id).sort()).toEqual([...calls.map(({ id }) => `obs-${id}`), `obs-${answer.id}`].sort())
    for (const each of found)
      expect(each).toMatchObject({ sessionId: look?.id, taskId: group.id, branch: 'task/look/worker' })
  })

  it('an agent of a team has short observations: the full texts are in its conversation', async () => {
    const long = 'x'.repeat(50_000)
    const worker = scripted([
      { tools: [{ name: 'test_echo', input: { text: long } }] },
      { text: `${'y'.repeat(9_998)}😀${long}` },
    ])
    const { engine, ledger } = await openWithLedger({ executors: { worker: worker.executor }, abilities: [echo] })
    const task = await engine.create({ executor: 'worker', goal: 'Say much', team: true })
    await engine.result(task)
    const [call, answer] = await observationsOf(ledger, task.id)
    expect([call?.content.length, call?.outcome?.length, answer?.content.length]).toEqual([2_000, 500, 9_999])
    expect(answer?.content).toMatch(/^y{9998}…$/)
  })

  it('an agent of a team has one observation of a call whose run died before the call ended', async () => {
    const stuck = tool('test:stuck', (_input, { signal }) => {
      const end = deferred()
      signal.addEventListener('abort', () => end.reject(signal.reason), { once: true })
      began.resolve()
      return end.promise
    })
    const began = deferred()
    const worker = scripted([{ tools: [{ name: 'test_stuck' }] }, { text: 'It hung.' }])
    const { engine, ledger } = await openWithLedger({ executors: { worker: worker.executor }, abilities: [stuck] })
    const task = await engine.create({ executor: 'worker', goal: 'Hang', team: true })
    await began.promise
    await engine.pause(task.id)
    await reached(engine, task, 'paused')
    await engine.resume(task.id)
    await engine.result(task)
    expect(observed(await observationsOf(ledger, task.id))).toEqual([
      'worker error test:stuck {} → The run ended before the call did: it may have happened',
      'worker insight It hung.',
    ])
  })

  it('an agent of a team has an observation of a call that ends after the agent has been completed', async () => {
    const stubborn = deferred<string>()
    const began = deferred()
    const worker = scripted([{ tools: [{ name: 'test_stubborn' }] }])
    const { engine, ledger } = await openWithLedger({
      executors: { worker: worker.executor },
      abilities: [
        tool('test:stubborn', () => {
          began.resolve()
          return stubborn.promise
        }),
      ],
    })
    const task = await engine.create({ executor: 'worker', goal: 'Hang', team: true })
    await began.promise
    await engine.cancel(task.id, 'enough')
    await left(engine, task.id, 'worker')
    expect(await observationsOf(ledger, task.id)).toEqual([])
    stubborn.resolve('at last')
    for await (const { type } of engine.events({ taskId: task.id })) if (type === 'run.closed') break
    expect(observed(await observationsOf(ledger, task.id))).toEqual(['worker tool_use test:stubborn {} → at last'])
  })

  it('an agent without a team has no observations, nor has a task of a team without an agent', async () => {
    const held = puppet()
    const { engine, ledger } = await openWithLedger({
      executors: { worker: says('Alone.').executor, plain: held.executor },
      abilities: [echo],
    })
    await engine.result(await engine.create({ executor: 'worker', goal: 'Work alone' }))
    const team = await engine.create({ executor: 'plain', team: true })
    const { run, end } = await held.started(0)
    await run.invoke('test:echo', { text: 'by a program' })
    await run.message('assistant', 'I am no model.')
    end.resolve(1)
    await engine.result(team)
    expect(await ledger.read((tx) => tx.observation.list({}, 10, Number.MAX_SAFE_INTEGER))).toEqual([])
    expect(await stintsOf(ledger, team.id)).toEqual([])
  })
})
