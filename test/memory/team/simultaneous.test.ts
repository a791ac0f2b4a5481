// Concurrent operations on one engine and on two of one ledger: in any order the final state is one that some sequence could produce,
// nothing is duplicated, and nothing is lost. Where functions are awaited before a step, the test holds one of them and lets the others
// go first.
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EngineOptions } from '../../../src/engine/engine-api.ts'
import type { Ledger } from '../../../src/ledger/ledger.ts'
import { openLedger } from '../../../src/ledger/open-ledger.ts'
import { codeOf } from '../../board/world.ts'
import { deferred, history, ledgerFile, typesOf } from '../../engine/world.ts'
import { runs } from '../../tier.ts'
import { complaints } from '../invariants.ts'
import { tablesOf } from '../world.ts'
import { facts, type Json, joins, openTeams, type Team, teamTask } from './world.ts'

const bug = 'Fixed the bug in the refresh of tokens'
const rounds = runs(1, 5)

/** Two engines on one ledger, and its rows. */
async function two(options: EngineOptions[] = []): Promise<{ one: Team; other: Team; ledger: Ledger }> {
  const file = ledgerFile()
  const [one, other] = [
    await openTeams({ ledger: file, work: false, ...options[0] }),
    await openTeams({ ledger: file, work: false, ...options[1] }),
  ]
  const ledger = await openLedger(file)
  onTestFinished(() => ledger.close())
  return { one, other, ledger }
}

const stintsOf = (ledger: Ledger, taskId: string) => ledger.read((tx) => tx.team.stints(taskId))

async function sound(ledger: Ledger): Promise<void> {
  expect(complaints(await tablesOf(ledger), 0.85)).toEqual([])
}

/** How often each was called. */
async function countEvents({ engine }: Team, taskId: string, types: readonly string[]): Promise<number[]> {
  const all = typesOf(await history(engine, taskId))
  return types.map((type) => all.filter((each) => each === type).length)
}

describe('Concurrent completion of an agent and its task', () => {
  it.each(['refuse', 'complete'] as const)(
    'X-038 an agent and its task completed concurrently end once, with agents: %s',
    async (agents) => {
      for (let round = 0; round < rounds; round++) {
        const { one, other, ledger } = await two()
        const { taskId, branch } = await teamTask(one)
        const ada = await joins(one, taskId, 'ada')
        await ada.sees(bug, 'insight', 's1')
        await ada.sees(bug, 'insight', 's2')
        const [agent, task] = await Promise.all([
          codeOf(one.call('agent:complete', { taskId, agentId: 'ada' })),
          codeOf(other.call('task:complete', { taskId, agents })),
        ])
        const isSound = { refuse: ['ok ok', 'ok AGENTS_ACTIVE'], complete: ['ok ok', 'NOT_ACTIVE ok'] }[agents]
        expect(isSound).toContain(`${agent} ${task}`)
        if (task !== 'ok') await one.call('task:complete', { taskId })
        expect((await stintsOf(ledger, taskId)).map(({ status }) => status)).toEqual(['completed'])
        expect([await facts(one, branch), await facts(one, 'main')]).toEqual([{ [bug]: 0.8 }, { [bug]: 0.8 }])
        expect(await countEvents(one, taskId, ['agent.completed', 'task.completed', 'team.closed'])).toEqual([1, 1, 1])
        await sound(ledger)
      }
    },
  )

  it('X-038 a completion that awaits a function is refused if another one finished meanwhile', async () => {
    const asked = deferred()
    const go = deferred()
    const slow = async (a: string, b: string) => {
      asked.resolve()
      await go.promise
      return a === b ? 1 : 0
    }
    const { one, other } = await two([
      { memory: { similarity: slow } },
      { memory: { similarity: (a: string, b: string) => (a === b ? 1 : 0) } },
    ])
    const { taskId, branch } = await teamTask(one)
    const ada = await joins(one, taskId, 'ada')
    for (const session of ['s1', 's2']) await ada.sees(bug, 'insight', session)
    await ada.sees('The build is slow', 'insight', 's2')
    const first = codeOf(one.call('agent:complete', { taskId, agentId: 'ada' }))
    await asked.promise
    // Observed while the first one awaits its answers.
    await other.call('mem:observe', { taskId, agentId: 'ada', sessionId: 's3', type: 'insight', content: bug })
    await other.call('task:complete', { taskId, agents: 'complete' })
    go.resolve()
    expect(await first).toBe('NOT_ACTIVE')
    expect(await facts(other, branch)).toEqual({ [bug]: 0.9, 'The build is slow': 0.7 })
    expect(await facts(other, 'main')).toEqual({ [bug]: 0.9 })
    expect(await countEvents(one, taskId, ['agent.completed', 'team.closed'])).toEqual([1, 1])
  })
})

describe('An agent that joins', () => {
  it('X-038 an agent that joins while the task is completed is completed with it, or is refused', async () => {
    for (let round = 0; round < rounds; round++) {
      for (const agents of ['refuse', 'complete']) {
        const { one, other, ledger } = await two()
        const { taskId } = await teamTask(one, { objectives: ['Find it'] })
        const joined = () => codeOf(one.call('agent:join', { taskId, agentId: 'ada', objectives: [1] }))
        const completed = () => codeOf(other.call('task:complete', { taskId, agents }))
        const both = round % 2 === 0 ? [joined(), completed()] : [completed(), joined()].toReversed()
        const outcome = (await Promise.all(both)).join(' ')
        const stints = await stintsOf(ledger, taskId)
        const { objectives } = (await one.call('task:context', { taskId })) as { objectives: Json[] }
        const state = [stints.map(({ status }) => status).join(), objectives[0]?.['status']]
        const legal: Record<string, unknown[]> = {
          'ok ok': ['completed', 'done'],
          'ok AGENTS_ACTIVE': ['active', 'active'],
          'INVALID_TRANSITION ok': ['', 'todo'],
        }
        expect([outcome, state]).toEqual([outcome, legal[outcome]])
        await sound(ledger)
      }
    }
  })

  it('X-038 an agent that joins while it is completed has one stint or two, at most one of them active', async () => {
    for (let round = 0; round < rounds; round++) {
      const { one, other, ledger } = await two()
      const { taskId } = await teamTask(one)
      const outcomes: string[] = []
      const work = Array.from({ length: 10 }, (_, n) => {
        const { call } = n % 2 === 0 ? one : other
        const id = n % 3 === 0 ? 'agent:complete' : 'agent:join'
        return codeOf(call(id, { taskId, agentId: 'ada' })).then((code) => outcomes.push(`${id} ${code}`))
      })
      await Promise.all(work)
      const stints = await stintsOf(ledger, taskId)
      expect(stints.map(({ number }) => number)).toEqual(stints.map((_, index) => index + 1))
      expect(stints.slice(0, -1).map(({ status }) => status)).toEqual(stints.slice(1).map(() => 'completed'))
      const count = (said: string) => outcomes.filter((each) => each === said).length
      expect(stints.length).toBe(count('agent:join ok'))
      expect(stints.filter(({ status }) => status === 'completed').length).toBe(count('agent:complete ok'))
      expect(new Set(stints.map(({ branch }) => branch)).size).toBe(1)
      const rest = outcomes.filter((each) => !each.endsWith(' ok'))
      const refusals = ['agent:join ALREADY_ACTIVE', 'agent:complete NOT_ACTIVE', 'agent:complete NOT_FOUND']
      expect(rest.filter((each) => !refusals.includes(each))).toEqual([])
    }
  })
})

describe('Objectives', () => {
  it('X-038 S2-030 twenty concurrent changes of an objective form a chain of states that the log shows', async () => {
    const { one, other, ledger } = await two()
    const { taskId } = await teamTask(one, { objectives: ['Find it', 'Fix it'] })
    const statuses = ['active', 'done', 'blocked', 'todo'] as const
    const given = Array.from({ length: 20 }, (_, n) => ({
      objectiveId: 1 + (n % 2),
      status: statuses[n % 4] as string,
      agentId: `agent ${n}`,
      notes: `by ${n}`,
    }))
    await Promise.all(
      given.map((change, n) => (n % 3 === 0 ? one : other).call('objective:update', { taskId, ...change })),
    )
    const { objectives } = (await one.call('task:context', { taskId })) as { objectives: Json[] }
    for (const { id, status, agentId, notes } of objectives) {
      const { changes } = (await one.call('objective:log', { taskId, objectiveId: id })) as { changes: Json[] }
      expect(changes).toHaveLength(10)
      expect(changes.map(({ from }) => from)).toEqual(['todo', ...changes.slice(0, -1).map(({ to }) => to)])
      expect(changes.at(-1)).toMatchObject({ to: status, agentId, notes })
      // Each change is whole: agent, status and notes belong together.
      for (const { to, agentId: who, notes: why } of changes) {
        expect(given).toContainEqual({ objectiveId: id, status: to, agentId: who, notes: why })
      }
      expect(new Set(changes.map(({ agentId: who }) => who)).size).toBe(10)
    }
    expect((await ledger.read((tx) => tx.team.objectives(taskId))).length).toBe(2)
  })

  it('X-038 objectives added concurrently are numbered without gaps and within the limit', async () => {
    const { one, other } = await two()
    const { taskId } = await teamTask(one)
    const many = Array.from({ length: 150 }, (_, n) => `part ${n}`)
    const codes = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        codeOf((n % 2 === 0 ? one : other).call('objective:add', { taskId, descriptions: many })),
      ),
    )
    expect(codes.toSorted()).toEqual([...Array<string>(2).fill('LIMIT_EXCEEDED'), ...Array<string>(6).fill('ok')])
    const { objectives } = (await one.call('task:context', { taskId })) as { objectives: Json[] }
    expect(objectives.map(({ id }) => id)).toEqual(Array.from({ length: 900 }, (_, n) => n + 1))
    expect(objectives.map(({ description }) => description)).toEqual(Array.from({ length: 6 }, () => many).flat())
  })
})

const twenty = Array.from({ length: 20 }, (_, n) => `module m${n % 10} keeps its own table of names, number ${n % 10}`)

describe('A session', () => {
  it('X-038 S2-072 a session consolidated by two engines concurrently is consumed once', async () => {
    for (let round = 0; round < rounds; round++) {
      const { one, other, ledger } = await two()
      for (const content of twenty) await one.call('mem:observe', { sessionId: 's', type: 'insight', content })
      const work = () => ({ level: 'session', sessionId: 's' })
      const runs = await Promise.all([one, other, one, other].map(({ call }) => call('mem:consolidate', work())))
      const processed = runs.map(({ observationsProcessed }) => observationsProcessed as number)
      expect(processed.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 20])
      expect(Object.values(await facts(one, 'main'))).toEqual(Array(10).fill(0.8))
      await sound(ledger)
    }
  })

  it('X-038 a session consolidated while another engine awaits a function is consumed once', async () => {
    const asked = deferred()
    const go = deferred()
    const alike = (a: string, b: string) => (a === b ? 1 : 0)
    const slow = async (a: string, b: string) => {
      asked.resolve()
      await go.promise
      return alike(a, b)
    }
    const { one, other, ledger } = await two([{ memory: { similarity: slow } }, { memory: { similarity: alike } }])
    for (const content of twenty) await one.call('mem:observe', { sessionId: 's', type: 'insight', content })
    const session = { level: 'session', sessionId: 's' }
    const first = one.call('mem:consolidate', session)
    await asked.promise
    expect(await other.call('mem:consolidate', session)).toMatchObject({ observationsProcessed: 20, factsCreated: 10 })
    await other.call('mem:observe', { sessionId: 's', type: 'insight', content: twenty[0] })
    go.resolve()
    // What was added meanwhile is left for this run.
    expect(await first).toMatchObject({ observationsProcessed: 1, factsCreated: 0, factsUpdated: 1 })
    expect(await facts(one, 'main')).toMatchObject({ [twenty[0] as string]: 0.9, [twenty[1] as string]: 0.8 })
    expect((await tablesOf(ledger)).observations.filter(({ consolidatedBy }) => consolidatedBy === null)).toEqual([])
  })

  it('X-038 S2-102 observations made during a consolidation are neither lost nor counted twice', async () => {
    for (const consolidateEvery of [undefined, 7]) {
      const memory = consolidateEvery === undefined ? {} : { memory: { consolidateEvery } }
      const { one, other, ledger } = await two([memory, memory])
      const session = { level: 'session', sessionId: 's' }
      const work: Array<Promise<Json>> = []
      for (let n = 0; n < 60; n++) {
        const content = `module m${n % 30} keeps its own table of names, number ${n % 30}`
        work.push((n % 2 === 0 ? one : other).call('mem:observe', { sessionId: 's', type: 'insight', content }))
        if (n % 5 === 0) work.push((n % 2 === 0 ? other : one).call('mem:consolidate', session))
        // Some commit together, some one after the other.
        if (n % 7 === 0) await Promise.all(work)
      }
      await Promise.all(work)
      await one.call('mem:consolidate', session)
      const { observations, runs } = await tablesOf(ledger)
      expect([observations.length, observations.filter((each) => each.consolidatedBy === null)]).toEqual([60, []])
      expect(runs.reduce((sum, run) => sum + (run['observationsProcessed'] as number), 0)).toBe(60)
      expect(Object.values(await facts(one, 'main'))).toEqual(Array(30).fill(0.8))
      await sound(ledger)
    }
  })
})

describe('A branch', () => {
  it('X-038 S2-108 a branch merged, archived and written concurrently keeps everything it accepted', async () => {
    for (let round = 0; round < rounds; round++) {
      const { one, other, ledger } = await two()
      const { taskId, branch } = await teamTask(one)
      const ada = await joins(one, taskId, 'ada')
      await ada.sees(bug, 'insight', 's1')
      const taken: string[] = []
      const take = async (n: number) => {
        const text = `module m${n} keeps its own table of names, number ${n}`
        const observe = { sessionId: `s${n}`, type: 'insight', content: text, branch: ada.branch }
        const give =
          n % 2 === 0 ? other.call('mem:observe', observe) : one.call('mem:remember', { text, branch: ada.branch })
        if ((await codeOf(give)) === 'ok') taken.push(text)
      }
      const outcomes = await Promise.all([
        ...[0, 1, 2, 3].map(take),
        codeOf(one.call('mem:merge', { branch: ada.branch })),
        codeOf(other.call('mem:merge', { branch: ada.branch })),
        ...[4, 5].map(take),
        codeOf(other.call('mem:archive', { branch: ada.branch })),
        ...[6, 7].map(take),
      ])
      expect(outcomes.filter((each) => each !== undefined && each !== 'ok')).toEqual([])
      const tables = await tablesOf(ledger)
      const kept = [...tables.observations.map(({ content }) => content), ...tables.facts.map(({ text }) => text)]
      expect(taken.filter((text) => !kept.includes(text))).toEqual([])
      const carried = tables.facts.filter((fact) => fact.branch === branch).map(({ text }) => text)
      expect(new Set(carried).size).toBe(carried.length)
      expect(carried).toContain(bug)
      await sound(ledger)
    }
  })
})
