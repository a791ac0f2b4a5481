// Three agents work on one task, each on a branch of memory of its own. Their facts reach those that come after them:
// the next agent of the team, and another task.
import { describe, expect, it } from 'vitest'
import { recallText } from '../../src/agents/loop/first-messages.ts'
import type { Task } from '../../src/entities/task.ts'
import { createPlace } from '../crash/child.ts'
import { finding, laterTask, playTeamScenario, remark, scenarioOptions, workers } from './team-scenario.ts'
import { closed, factsOn, observationsOf, openWithLedger, scripted, stintsOf } from './team-world.ts'
import { gatedTool, said } from './world.ts'

describe('the facts of the agents of a team', () => {
  it('S2-046 S2-061 X-026 a team briefs each agent on the agents before it, and passes the facts of two agents on to a later task', async () => {
    const { engine, ledger } = await openWithLedger(scenarioOptions(createPlace().effects))
    const { team, later } = await playTeamScenario(engine)

    expect((await stintsOf(ledger, team)).map(({ agentId, status, summary }) => [agentId, status, summary])).toEqual([
      ['finder', 'completed', finding],
      ['fixer', 'completed', finding],
      ['checker', 'completed', remark],
    ])
    const byType = (await observationsOf(ledger, team)).map(({ agentId, type }) => `${agentId} ${type}`)
    expect(byType.sort()).toEqual([
      'checker insight',
      'checker tool_use',
      'finder error',
      'finder insight',
      'finder tool_use',
      'fixer insight',
      'fixer tool_use',
    ])
    const runs = await ledger.read((tx) => tx.consolidation.list({ taskId: team, type: 'session_end' }, 10, 1e9))
    // Observations of tools are stored, and not counted.
    expect(runs.map(({ observationsProcessed }) => observationsProcessed)).toEqual([1, 1, 1])

    const facts = (branch: string) => factsOn(ledger, branch)
    expect(await facts('task/repair-the-login')).toMatchObject([
      { text: finding, confidence: 80, category: 'bug_fix', verdict: 'durable' },
      { text: remark, confidence: 70, verdict: 'ephemeral' },
    ])
    expect(await facts('main')).toMatchObject([{ text: finding, confidence: 80 }])

    const children = await engine.children(team)
    const briefings = await Promise.all(children.map((child) => said(engine, child)))
    const context = briefings.map((lines) => lines.find((line) => line.includes('Task Context')) ?? '')
    for (const [index, name] of workers.entries()) {
      expect(context[index]).toMatch(`user: You work on this with others, as ${name}.\n`)
      expect(context[index]).toContain('Find the cause')
      for (const other of workers) expect(context[index]?.includes(`- ${other}: `)).toBe(workers.indexOf(other) < index)
    }
    const sourceOf = (task: Task | undefined) => ({ kind: 'model' as const, taskId: task?.id as string })
    const statedBy = ['finder', 'fixer'].map((agentId, at) => ({ ...sourceOf(children[at]), agentId }))
    expect(await said(engine, later)).toEqual([
      'system: You are a helpful AI assistant.',
      `user: ${laterTask.goal}`,
      `user: ${recallText({ chunks: [{ content: finding, confidence: 0.8, branch: 'main', statedBy }] })}`,
      'assistant: It dropped it.',
    ])
  })

  it('S2-016 agents of a team work on separate branches: an agent reads no facts of another agent that still works', async () => {
    const slow = gatedTool('test:slow')
    const observing = (content: string) =>
      scripted([
        { tools: [{ name: 'mem_remember', input: { text: content } }] },
        { tools: [{ name: 'test_slow' }] },
        { tools: [{ name: 'mem_retrieve', input: { query: 'the login' } }] },
        { text: 'Done.' },
      ]).executor
    const { engine, ledger } = await openWithLedger({
      executors: { anna: observing('The login needs a cookie.'), bert: observing('The login needs a password.') },
      abilities: [slow.ability],
    })
    const group = await engine.create({
      name: 'Look',
      team: true,
      tasks: { a: { executor: 'anna', goal: 'Look' }, b: { executor: 'bert', goal: 'Look' } },
    })
    const calls = [await slow.began(0), await slow.began(1)]
    const texts = async (branch: string) => (await factsOn(ledger, branch)).map(({ text }) => text)
    expect(await texts('task/look/anna')).toEqual(['The login needs a cookie.'])
    expect(await texts('task/look/bert')).toEqual(['The login needs a password.'])
    expect(await texts('task/look')).toEqual([])
    for (const call of calls) call.end('slept')
    await closed(engine, group.id)
    for (const child of await engine.children(group.id)) {
      const [recalled] = (await engine.calls(child.id)).filter(({ name }) => name === 'mem:retrieve')
      const own = child.executor === 'anna' ? 'The login needs a cookie.' : 'The login needs a password.'
      expect(recalled?.result).toMatchObject({ chunks: [{ text: own }] })
    }
    expect((await texts('task/look')).filter((text) => text.startsWith('The login'))).toHaveLength(2)
  })

  it('an agent that gets a second task of its team continues in its own branch', async () => {
    const twice = scripted([
      { when: { goal: 'First' }, text: 'The cache has to be cleared first.' },
      { when: { goal: 'Then' }, text: 'Cleared.' },
    ])
    const { engine, ledger } = await openWithLedger({ executors: { worker: twice.executor } })
    const group = await engine.create({
      name: 'Clear',
      team: true,
      tasks: {
        one: { executor: 'worker', goal: 'First' },
        two: { executor: 'worker', goal: 'Then: the cache', after: 'one' },
      },
    })
    await closed(engine, group.id)
    expect((await stintsOf(ledger, group.id)).map(({ agentId, number, branch }) => [agentId, number, branch])).toEqual([
      ['worker', 1, 'task/clear/worker'],
      ['worker', 2, 'task/clear/worker'],
    ])
    const [, two] = await engine.children(group.id)
    const recalled = (await said(engine, two?.id as string)).find((line) => line.includes('context from past tasks'))
    expect(recalled).toContain('{"statement":"The cache has to be cleared first.","statedBy":[{"kind":"model",')
  })
})
