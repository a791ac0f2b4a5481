// Merging a branch into the branch above it: nothing is lost, nothing is duplicated.
import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/ledger/ledger.ts'
import { insertFact } from '../../src/memory/fact-writes.ts'
import { refusalOf } from '../engine/world.ts'
import { type Json, openMemory, sentence, withoutRuns } from './world.ts'

async function openTeam(options = {}) {
  const memory = await openMemory(options)
  const { taskId, branch, on } = await memory.team('Fix Auth', 'ada', 'bob')
  return {
    ...memory,
    taskId,
    branch,
    on,
    state: async (text: string, agentId: string, more: Json = {}) =>
      (await memory.call('mem:remember', { text, taskId, agentId, ...more }))['factId'] as string,
    merge: (from: string, more: Json = {}) => memory.call('mem:merge', { branch: from, ...more }),
  }
}

describe('A merge', () => {
  it('S2-021 S2-037 a merge returns what reached the branch above, has an id in the history, and marks the branch merged', async () => {
    const { state, merge, on, branch, call, facts } = await openTeam()
    const origin = await state(sentence, 'ada', { confidence: 0.9, category: 'security' })
    const { mergeId, ...came } = await merge(on('ada'))
    expect(came).toEqual({ merged: 1, rejected: 0, conflicts: [] })
    expect(await facts(branch)).toMatchObject([
      { text: sentence, confidence: 0.9, category: 'security', originId: origin, agentId: 'ada', status: 'active' },
    ])
    const { history } = await call('mem:history', { type: 'merge' })
    expect(history).toMatchObject([
      { id: mergeId, sourceBranch: on('ada'), targetBranch: branch, merged: 1, rejected: 0 },
    ])
    const { branches } = await call('mem:branches', { status: 'merged' })
    expect(branches).toMatchObject([{ name: on('ada') }])
  })

  it('S2-105 a merged fact that exists above raises its confidence and is not duplicated', async () => {
    const { state, merge, on, branch, known } = await openTeam()
    await state(sentence, 'ada')
    await state(`${sentence}!`, 'bob', { confidence: 0.8 })
    await merge(on('ada'))
    expect(await merge(on('bob'))).toMatchObject({ merged: 1, rejected: 0 })
    expect(await known(branch)).toEqual([`0.9 ${sentence}`])
    // Found by two, it has enough confidence; the facts of each stay as they are.
    expect(await known(on('ada'))).toEqual([`0.7 ${sentence}`])
  })

  it('S2-022 a merge keeps facts that are only half alike, whatever words they share', async () => {
    const { state, merge, on, branch, known } = await openTeam()
    const all = Array.from({ length: 12 }, (_, at) => `word${at}`)
    await state(all.join(' '), 'ada')
    await merge(on('ada'))
    const texts = [1, 2, 3, 4, 5, 6, 8, 10].map((kept) => all.slice(0, kept).join(' '))
    for (const text of texts) await state(text, 'bob')
    expect(await merge(on('bob'))).toMatchObject({ merged: 8, rejected: 0 })
    expect(await known(branch)).toEqual([all.join(' '), ...texts].map((text) => `0.7 ${text}`))
  })

  it('a second merge adds nothing', async () => {
    const { state, merge, on, tables } = await openTeam()
    await state(sentence, 'ada')
    await state('something else', 'ada')
    await merge(on('ada'))
    const before = await tables()
    expect(await merge(on('ada'))).toMatchObject({ merged: 0, rejected: 0, conflicts: [] })
    expect(withoutRuns(await tables())).toEqual(withoutRuns(before))
  })

  it('a merged fact that gained confidence adds only the difference', async () => {
    const { see, session, merge, on, branch, known, taskId } = await openTeam()
    const sees = async (sessionId: string, agentId: string) => {
      await see(sentence, { sessionId, taskId, agentId })
      await session(sessionId)
    }
    await sees('s1', 'ada')
    await merge(on('ada'))
    await sees('s2', 'bob')
    await merge(on('bob'))
    expect(await known(branch)).toEqual([`0.8 ${sentence}`])
    await sees('s3', 'ada')
    expect(await merge(on('ada'))).toMatchObject({ merged: 1 })
    expect(await known(branch)).toEqual([`0.9 ${sentence}`])
    expect(await merge(on('ada'))).toMatchObject({ merged: 0 })
    for (const [at, agentId] of ['ada', 'ada', 'bob', 'bob'].entries()) {
      await sees(`s${4 + at}`, agentId)
      await merge(on(agentId))
    }
    expect(await known(branch)).toEqual([`1 ${sentence}`])
  })

  it('S2-034 a merge of durable facts leaves the others, and the branch stays open', async () => {
    const { state, merge, branch, taskId, call, known } = await openTeam()
    await call('mem:remember', { text: sentence, taskId, category: 'security', confidence: 0.9 })
    await call('mem:remember', { text: 'a passing remark', taskId, confidence: 0.9 })
    expect(await merge(branch, { only: 'durable' })).toMatchObject({ merged: 0 })
    await call('mem:consolidate', { level: 'task', taskId })
    expect(await merge(branch, { only: 'durable' })).toMatchObject({ merged: 1 })
    expect(await known()).toEqual([`0.9 ${sentence}`])
    expect(await known(branch)).toHaveLength(2)
    const { branches } = await call('mem:branches', { status: 'active' })
    expect((branches as Json[]).map(({ name }) => name as string)).toContain(branch)
    await state('unused', 'ada')
  })

  it('a merge includes observations that were not consolidated', async () => {
    const { see, merge, on, branch, known, taskId } = await openTeam()
    await see(sentence, { taskId, agentId: 'ada' })
    expect(await merge(on('ada'))).toMatchObject({ merged: 1 })
    expect(await known(branch)).toEqual([`0.7 ${sentence}`])
  })

  it('a merge past the branch in between leaves that branch out', async () => {
    const { see, session, merge, on, branch, known, taskId } = await openTeam()
    await see(sentence, { taskId, agentId: 'ada' })
    await session()
    await merge(on('ada'), { into: 'main' })
    await see(sentence, { taskId, agentId: 'ada', sessionId: 's2' })
    await session('s2')
    expect(await merge(on('ada'))).toMatchObject({ merged: 0 })
    expect([await known(branch), await known()]).toEqual([[], [`0.7 ${sentence}`]])
    expect(await merge(on('ada'), { into: 'main' })).toMatchObject({ merged: 1 })
    expect(await known()).toEqual([`0.8 ${sentence}`])
  })

  it('a merge handles thousands of facts', async () => {
    const { ledger, merge, on, branch, known } = await openTeam()
    const writer = { ctx: { at: 1, instanceId: 'instance-a' }, nextId: (prefix: string) => `${prefix}-${nth++}` }
    let nth = 0
    await ledger.step({
      name: 'fill',
      *decide(tx): Op<void> {
        for (let at = 0; at < 2_500; at++) {
          yield* insertFact(tx, writer, {
            branch: on('ada'),
            text: `subject${at} predicate${at}`,
            category: 'insight',
            confidence: 70,
            statedBy: [{ kind: 'program' }],
            sessionId: null,
            taskId: null,
            agentId: null,
          })
        }
      },
    })
    expect(await merge(on('ada'))).toMatchObject({ merged: 2_500 })
    expect(await known(branch)).toHaveLength(1_000)
    expect(await merge(on('ada'))).toMatchObject({ merged: 0 })
  })

  it('a merge goes only upward, into an open branch', async () => {
    const { merge, on, branch, call, tables } = await openTeam()
    await call('mem:archive', { branch: on('bob') })
    const before = await tables()
    await refusalOf(merge(on('ada'), { into: on('bob') }), 'BRANCH_CLOSED')
    await refusalOf(merge('main'), 'INVALID_INPUT')
    await refusalOf(merge(branch, { into: on('ada') }), 'INVALID_INPUT')
    await refusalOf(merge(branch, { into: branch }), 'INVALID_INPUT')
    await refusalOf(merge('task/nowhere'), 'NOT_FOUND')
    await refusalOf(merge(on('ada'), { into: 'task/nowhere' }), 'NOT_FOUND')
    expect(await tables()).toEqual(before)
  })

  it('a merge may skip the branch in between', async () => {
    const { state, merge, on, known, branch } = await openTeam()
    await state(sentence, 'ada')
    expect(await merge(on('ada'), { into: 'main' })).toMatchObject({ merged: 1 })
    expect([await known(), await known(branch)]).toEqual([[`0.7 ${sentence}`], []])
  })

  it('a merged branch accepts a late observation and can be merged again', async () => {
    const { see, session, state, merge, on, branch, known, taskId, call } = await openTeam()
    await state(sentence, 'ada')
    await merge(on('ada'))
    await see('and another thing', { taskId, agentId: 'ada' })
    await session()
    expect(await merge(on('ada'))).toMatchObject({ merged: 1 })
    expect(await known(branch)).toHaveLength(2)
    const { branches } = await call('mem:branches', { status: 'merged' })
    expect(branches).toMatchObject([{ name: on('ada') }])
  })
})

describe('Branches', () => {
  it('S2-016 an agent sees the facts of its own branch and those above, not beside or below', async () => {
    const { state, facts, on, branch, call } = await openTeam()
    await state('known to ada', 'ada')
    await state('known to bob', 'bob')
    await call('mem:remember', { text: 'known to the team', branch })
    await call('mem:remember', { text: 'known to all' })
    const textsOf = async (name: string, inherited: boolean) =>
      (await facts(name, { inherited })).map(({ text }) => text as string).sort()
    expect(await textsOf(on('ada'), false)).toEqual(['known to ada'])
    expect(await textsOf(on('ada'), true)).toEqual(['known to ada', 'known to all', 'known to the team'])
    expect(await textsOf(branch, true)).toEqual(['known to all', 'known to the team'])
    expect(await textsOf('main', true)).toEqual(['known to all'])
    const { chunks } = await call('mem:retrieve', { query: 'known', branch: on('bob') })
    expect((chunks as Json[]).map(({ text }) => text as string).sort()).toEqual([
      'known to all',
      'known to bob',
      'known to the team',
    ])
  })

  it('a list of a branch with those above shows a merged fact once', async () => {
    const { state, merge, facts, on, branch, call } = await openTeam()
    await state(sentence, 'ada')
    await merge(on('ada'))
    await merge(branch)
    expect(await facts(on('ada'), { inherited: true })).toMatchObject([{ branch: on('ada') }])
    expect(await facts(branch, { inherited: true })).toMatchObject([{ branch }])
    // For bob it comes from above.
    expect(await facts(on('bob'), { inherited: true })).toMatchObject([{ branch }])
    const { chunks } = await call('mem:retrieve', { query: 'session token', branch: on('ada') })
    expect(chunks).toHaveLength(1)
  })

  it('S2-009 S2-108 mem:branches shows parent and status; an unknown branch is NOT_FOUND', async () => {
    const { call, branch, on, taskId } = await openTeam()
    const { branches } = await call('mem:branches', { taskId })
    expect(branches).toMatchObject([
      { name: branch, parent: 'main', description: 'Fix Auth', status: 'active', taskId },
      { name: on('ada'), parent: branch, status: 'active', taskId, agentId: 'ada' },
      { name: on('bob'), parent: branch, status: 'active', taskId, agentId: 'bob' },
    ])
    for (const [ability, input] of [
      ['mem:facts', { branch: 'task/nowhere' }],
      ['mem:retrieve', { query: 'x', branch: 'task/nowhere' }],
      ['mem:observations', { branch: 'task/nowhere' }],
      ['mem:history', { branch: 'task/nowhere' }],
      ['mem:archive', { branch: 'task/nowhere' }],
      ['mem:remember', { text: 'x', branch: 'task/nowhere' }],
      ['mem:consolidate', { level: 'session', sessionId: 's', branch: 'task/nowhere' }],
      ['mem:consolidate', { level: 'project', branch: 'task/nowhere' }],
    ] as const) {
      const refusal = await refusalOf(call(ability, input), 'NOT_FOUND')
      expect([ability, refusal.details['branch']]).toEqual([ability, 'task/nowhere'])
    }
  })

  it('a page of inherited facts is full although most of them are copies', async () => {
    const { ledger, call, facts, on, branch, merge } = await openTeam()
    for (let at = 0; at < 450; at++)
      await call('mem:remember', { text: `subject${at} predicate${at}`, branch: on('ada') })
    await call('mem:remember', { text: 'known to the team', branch })
    await merge(on('ada'))
    const { facts: first, next } = await call('mem:facts', { branch: on('ada'), inherited: true, limit: 3 })
    expect((first as Json[]).map(({ text }) => text as string)).toEqual([
      'known to the team',
      'subject449 predicate449',
      'subject448 predicate448',
    ])
    const rest = await facts(on('ada'), { inherited: true, before: next })
    expect(rest).toHaveLength(448)
    expect((await ledger.read((tx) => tx.fact.countActive([branch]))).get(branch)).toBe(451)
  })

  it('branches are listed in pages', async () => {
    const { call, on, state, branch } = await openTeam()
    const names: string[] = []
    for (let after: number | null = 0; after !== null; ) {
      const page: Json = await call('mem:branches', { limit: 1, after })
      names.push(...(page['branches'] as Json[]).map(({ name }) => name as string))
      after = page['next'] as number | null
    }
    expect(names).toEqual(['main', branch, on('ada'), on('bob')])
    for (const text of ['one fact', 'two facts', 'three facts']) await state(text, 'ada')
    const first = await call('mem:facts', { branch: on('ada'), limit: 2, inherited: true })
    expect((first['facts'] as Json[]).map(({ text }) => text as string)).toEqual(['three facts', 'two facts'])
    const rest = await call('mem:facts', { branch: on('ada'), limit: 2, before: first['next'], inherited: true })
    expect(rest).toMatchObject({ facts: [{ text: 'one fact' }], next: null })
  })
})

describe('An archived branch', () => {
  it('S2-037 archiving a branch closes all below it, keeps them readable and refuses new facts', async () => {
    const { state, call, facts, branch, on, see, taskId } = await openTeam()
    await state(sentence, 'ada')
    await see('a last word', { taskId, agentId: 'bob' })
    const { branches } = await call('mem:archive', { branch })
    expect(branches).toEqual([branch, on('ada'), on('bob')])
    expect(await facts(on('ada'))).toHaveLength(1)
    // The observation became a fact before the branch was closed.
    expect(await facts(on('bob'))).toMatchObject([{ text: 'a last word' }])
    await refusalOf(state('more', 'ada'), 'BRANCH_CLOSED')
    await refusalOf(call('mem:consolidate', { level: 'session', sessionId: 's', branch }), 'BRANCH_CLOSED')
    await refusalOf(call('agent:join', { taskId, agentId: 'eve' }), 'BRANCH_CLOSED')
    expect(await call('mem:archive', { branch })).toMatchObject({ branches: [branch, on('ada'), on('bob')] })
  })

  it('S2-038 main cannot be archived', async () => {
    const { call, tables } = await openTeam()
    const before = await tables()
    await refusalOf(call('mem:archive', { branch: 'main' }), 'INVALID_INPUT')
    expect(await tables()).toEqual(before)
    await refusalOf(call('mem:archive', {}), 'INVALID_INPUT')
    await refusalOf(call('mem:archive', { branch: 'main', taskId: 'task-a' }), 'INVALID_INPUT')
  })
})
