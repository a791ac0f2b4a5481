// Memory: branches, observations that are consumed once, facts and their indexes.
import { subjectOf } from '../../../src/entities/disagreement.ts'
import { wordsOf } from '../../../src/entities/fact-tokens.ts'
import type { FactRecord, ObservationRecord } from '../../../src/entities/memory.ts'
import type { FactFilter, Ledger, Op, Reads, Tx } from '../../../src/ledger/ledger.ts'
import { branchRow, factRow, observationRow, someTime } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

/** Greater than every `seq`. */
const end = Number.MAX_SAFE_INTEGER

const insertBranches = (ledger: Ledger, ...names: string[]) =>
  write(ledger, function* (tx) {
    for (const name of names) yield* tx.branch.insert(branchRow({ name }))
  })

const insertFacts = (ledger: Ledger, ...facts: Array<Partial<FactRecord> & { id: string }>) =>
  write(ledger, function* (tx) {
    for (const fact of facts) yield* tx.fact.insert(factRow(fact))
  })

const insertObservations = (ledger: Ledger, ...observations: Array<Partial<ObservationRecord> & { id: string }>) =>
  write(ledger, function* (tx) {
    for (const observation of observations) yield* tx.observation.insert(observationRow(observation))
  })

function* saveFact(tx: Tx, id: string, changes: Partial<FactRecord>): Op<void> {
  const fact = yield* tx.fact.get(id)
  if (fact !== undefined) yield* tx.fact.save({ ...fact, ...changes })
}

const supersede = (ledger: Ledger, id: string, successorId: string) =>
  write(ledger, (tx) => saveFact(tx, id, { status: 'superseded', successorId, updatedAt: someTime + 1 }))

const searched = async (ledger: Ledger, words: string, branches: readonly string[] = ['main'], limit = 9) =>
  (await ledger.read((tx) => tx.fact.search(branches, words.split(' '), limit))).map(({ fact }) => fact.id)

const candidates = (ledger: Ledger, text: string, threshold = 0.85, branch = 'main') =>
  idsIn(ledger, (tx) => tx.fact.candidates(branch, wordsOf(text), threshold))

export const memories: Theme = (world) => {
  world.describe('branches', () => branches(world))
  world.describe('observations', () => observations(world))
  world.describe('facts', () => facts(world))
  world.describe('searches of facts', () => findings(world))
}

const branches: Theme = ({ proves, expect }) => {
  proves('branches include main from the start, which never changes', async (ledger) => {
    const main = await ledger.read((tx) => tx.branch.get('main'))
    expect(main).toMatchObject({ name: 'main', parent: null, status: 'active', taskId: null, agentId: null })
    for (const wrong of [
      (tx: Tx) => tx.branch.save({ name: 'main', status: 'archived', description: '', updatedAt: 1 }),
      (tx: Tx) => tx.branch.insert(branchRow({ name: 'main' })),
      (tx: Tx) => tx.branch.insert(branchRow({ name: 'second-root', parent: null })),
      (tx: Tx) => tx.branch.insert(branchRow({ name: 'orphan', parent: 'missing' })),
      (tx: Tx) => tx.branch.insert(branchRow({ name: 'odd', status: 'lost' as 'active' })),
    ]) {
      await expect(write<unknown>(ledger, wrong)).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
    }
    expect(await ledger.read((tx) => tx.branch.list({}, 9, 0))).toEqual([main])
  })

  proves(
    'S2-009 a branch has a parent, a description and a state, of which only the last two can be changed',
    async (ledger) => {
      const made = branchRow({ name: 'task/a b', description: `it's "so"`, taskId: 'task-gone', agentId: 'ann' })
      const seq = await write(ledger, (tx) => tx.branch.insert(made))
      expect(await ledger.read((tx) => tx.branch.get('task/a b'))).toEqual({ ...made, seq })
      const changes = { status: 'merged' as const, description: 'done', updatedAt: someTime + 1 }
      await write(ledger, (tx) => tx.branch.save({ name: 'task/a b', ...changes }))
      expect(await ledger.read((tx) => tx.branch.get('task/a b'))).toEqual({ ...made, ...changes, seq })
      const again = { status: 'active' as const, updatedAt: someTime + 2 }
      await write(ledger, (tx) => tx.branch.saveStatus({ name: 'task/a b', taskId: 'task-gone', ...again }))
      await write(ledger, (tx) => tx.branch.saveStatus({ name: 'task/a b', taskId: 'another', ...changes }))
      expect(await ledger.read((tx) => tx.branch.toCreate('task/a b'))).toEqual({ ...made, ...changes, ...again, seq })
      expect(await ledger.read((tx) => tx.branch.get('task/a'))).toBe(undefined)
    },
  )

  proves(
    'lineage returns the branches up to main, and branches are listed by age, filtered by state, parent and task',
    async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.branch.insert(branchRow({ name: 'task/x', taskId: 'x' }))
        yield* tx.branch.insert(branchRow({ name: 'task/x/ann', parent: 'task/x', taskId: 'x', agentId: 'ann' }))
        yield* tx.branch.insert(branchRow({ name: 'a', status: 'archived' }))
      })
      const lineage = async (name: string) =>
        (await ledger.read((tx) => tx.branch.lineage(name))).map((each) => each.name)
      expect(await lineage('task/x/ann')).toEqual(['task/x/ann', 'task/x', 'main'])
      expect(await lineage('main')).toEqual(['main'])
      expect(await lineage('nowhere')).toEqual([])
      const listed = async (filter: Parameters<Reads['branch']['list']>[0], limit = 9, after = 0) =>
        (await ledger.read((tx) => tx.branch.list(filter, limit, after))).map((each) => each.name)
      expect(await listed({})).toEqual(['main', 'task/x', 'task/x/ann', 'a'])
      expect(await listed({}, 2, 1)).toEqual(['task/x', 'task/x/ann'])
      expect(await listed({ status: 'archived' })).toEqual(['a'])
      expect(await listed({ parent: 'main' })).toEqual(['task/x', 'a'])
      expect(await listed({ taskId: 'x', status: 'active', parent: 'task/x' })).toEqual(['task/x/ann'])
      const ofTask = async (limit: number, after: number) =>
        (await ledger.read((tx) => tx.branch.allOfTask('x', limit, after))).map((each) => each.name)
      expect(await ofTask(9, 0)).toEqual(['task/x', 'task/x/ann'])
      expect(await ofTask(1, 0)).toEqual(['task/x'])
      expect(await ofTask(9, 2)).toEqual(['task/x/ann'])
    },
  )
}

const observations: Theme = ({ proves, expect }) => {
  proves('an observation is read as it was written, and an id is written once', async (ledger) => {
    const full = observationRow({
      id: 'o',
      sessionId: `s'1`,
      type: 'error',
      content: `'; drop table fact; -- "\\ $1 ?1 👩‍👩‍👧 ${'é'.repeat(9_000)}`,
      outcome: 'none',
      taskId: 'task-gone',
      agentId: 'ann',
      statedBy: { kind: 'model', taskId: 'task-gone', agentId: `it's "ann"`, voice: 'task-gone' },
    })
    const written = await write(ledger, function* (tx) {
      return [
        yield* tx.observation.insert(full),
        yield* tx.observation.insert(observationRow({ id: 'o', content: 'other' })),
        yield* tx.observation.insert(observationRow({ id: 'p' })),
      ]
    })
    expect(written).toEqual([true, false, true])
    expect(await ledger.read((tx) => tx.observation.get('o'))).toEqual({ ...full, seq: 1 })
    expect(await ledger.read((tx) => tx.observation.get('p'))).toMatchObject({ outcome: null, consolidatedBy: null })
    expect(await ledger.read((tx) => tx.observation.get('q'))).toBe(undefined)
    for (const odd of [{ type: 'hunch' as 'insight' }, { branch: 'nowhere' }]) {
      const refused = write(ledger, (tx) => tx.observation.insert(observationRow({ id: 'odd', ...odd })))
      await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
    }
  })

  proves(
    'memorable observations are pending by branch and session until a consolidation consumes them',
    async (ledger) => {
      await insertBranches(ledger, 'side')
      await insertObservations(
        ledger,
        { id: 'late', sessionId: 'two' },
        { id: 'a', type: 'decision', createdAt: someTime - 9 },
        { id: 'tool', type: 'tool_use' },
        { id: 'error', type: 'error', sessionId: 'only-errors' },
        { id: 'aside', branch: 'side' },
        { id: 'b', type: 'discovery' },
      )
      const pending = (session: string | null, limit = 9, branch = 'main') =>
        idsIn(ledger, (tx) => tx.observation.pending(branch, session, limit))
      expect(await pending(null)).toEqual(['late', 'a', 'b'])
      expect(await pending(null, 2)).toEqual(['late', 'a'])
      expect(await pending('session-1')).toEqual(['a', 'b'])
      expect(await pending('session-1', 1)).toEqual(['a'])
      expect(await pending('only-errors')).toEqual([])
      expect(await pending('session-1', 9, 'side')).toEqual(['aside'])
      expect(await ledger.read((tx) => tx.observation.pendingSessions('main'))).toEqual(['two', 'session-1'])
      expect(await ledger.read((tx) => tx.observation.pendingBranches('session-1'))).toEqual(['main', 'side'])
      expect(await ledger.read((tx) => tx.observation.pendingBranches('only-errors'))).toEqual([])

      await write(ledger, function* (tx) {
        for (const id of ['late', 'b']) yield* tx.observation.consume(id, 'run-1')
        yield* tx.observation.consume('b', 'run-2')
      })
      expect(await pending(null)).toEqual(['a'])
      expect(await pending('two')).toEqual([])
      expect(await ledger.read((tx) => tx.observation.countPending('main', 'session-1'))).toBe(1)
      expect(await ledger.read((tx) => tx.observation.countPending('main', 'two'))).toBe(0)
      expect(await ledger.read((tx) => tx.observation.pendingSessions('main'))).toEqual(['session-1'])
      expect(await ledger.read((tx) => tx.observation.get('b'))).toMatchObject({ consolidatedBy: 'run-1' })
    },
  )

  proves('observations are listed from the latest on, by every filter', async (ledger) => {
    await insertBranches(ledger, 'side')
    await insertObservations(
      ledger,
      { id: 'a', taskId: 't', agentId: 'ann' },
      { id: 'b', branch: 'side', type: 'error', taskId: 't' },
      { id: 'c', sessionId: 'two', agentId: 'ann' },
      { id: 'd', type: 'tool_use', consolidatedBy: 'run-1' },
    )
    const listed = (filter: Parameters<Reads['observation']['list']>[0], limit = 9, before = end) =>
      idsIn(ledger, (tx) => tx.observation.list(filter, limit, before))
    expect(await listed({})).toEqual(['d', 'c', 'b', 'a'])
    expect(await listed({}, 2, 4)).toEqual(['c', 'b'])
    expect(await listed({ branch: 'side' })).toEqual(['b'])
    expect(await listed({ sessionId: 'session-1' })).toEqual(['d', 'b', 'a'])
    expect(await listed({ taskId: 't' })).toEqual(['b', 'a'])
    expect(await listed({ agentId: 'ann', taskId: 't' })).toEqual(['a'])
    expect(await listed({ types: ['error', 'tool_use'] })).toEqual(['d', 'b'])
    expect(await listed({ types: [] })).toEqual([])
  })
}

const facts: Theme = ({ proves, expect }) => {
  const full = factRow({
    id: 'full',
    text: `'; drop table fact; -- "\\ $1 ?1 "AND" near(a b) café हिन्दी 修复登录 👩‍👩‍👧 \u202e`,
    category: 'bug_fix',
    confidence: 100,
    statedBy: [{ kind: 'person' }, { kind: 'model', taskId: 'task-gone', agentId: `it's "ann"`, voice: 'task-gone' }],
    sessionId: 's',
    taskId: 'task-gone',
    agentId: 'ann',
    observationId: 'o',
    originId: 'f0',
    disputed: true,
    verdict: 'durable',
    comparedBy: 'words 0.85',
    mergedTo: 'above',
    mergedConfidence: 100,
    updatedAt: someTime + 1,
  })

  proves('facts are read as they were written', async (ledger) => {
    const seqs = await write(ledger, function* (tx) {
      return [yield* tx.fact.insert(full), yield* tx.fact.insert(factRow({ id: 'bare' }))]
    })
    expect(seqs).toEqual([1, 2])
    expect(await ledger.read((tx) => tx.fact.get('full'))).toEqual({ ...full, seq: 1 })
    expect(await ledger.read((tx) => tx.fact.get('bare'))).toEqual({ ...factRow({ id: 'bare' }), seq: 2 })
    expect(await ledger.read((tx) => tx.fact.get('none'))).toBe(undefined)
  })

  proves('facts are found by the literal prefix of an id, in order', async (ledger) => {
    await insertFacts(
      ledger,
      { id: 'fact-bc' },
      { id: 'fact-b' },
      { id: 'fact-c' },
      { id: 'fact-ba' },
      { id: 'fact-B' },
      { id: 'old-b' },
    )
    await supersede(ledger, 'fact-bc', 'fact-b')
    const begin = (prefix: string, limit = 9) => idsIn(ledger, (tx) => tx.fact.findByPrefix(prefix, limit))
    expect(await begin('fact-b')).toEqual(['fact-b', 'fact-ba', 'fact-bc'])
    expect(await begin('fact-b', 2)).toEqual(['fact-b', 'fact-ba'])
    expect(await begin('fact-bc')).toEqual(['fact-bc'])
    for (const none of ['fact-x', 'fact-%', 'fact_', 'b']) expect(await begin(none)).toEqual([])
    expect((await begin('', 2)).length).toBe(2)
  })

  proves(
    'saving a fact changes its state and sources, and not its text, category, branch, agent and time',
    async (ledger) => {
      await insertFacts(ledger, { id: 'a' })
      const changes: Partial<FactRecord> = {
        confidence: 80,
        statedBy: [{ kind: 'program' }, { kind: 'person' }],
        status: 'superseded',
        successorId: 'b',
        disputed: true,
        verdict: 'ephemeral',
        comparedBy: 'm',
        mergedTo: 'c',
        mergedConfidence: 70,
        updatedAt: someTime + 5,
      }
      const fixed = { text: 'Other words', category: 'decision', branch: 'nowhere', agentId: 'bob', createdAt: 1 }
      await write(ledger, (tx) => saveFact(tx, 'a', { ...fixed, ...changes }))
      expect(await ledger.read((tx) => tx.fact.get('a'))).toEqual({ ...factRow({ id: 'a' }), ...changes, seq: 1 })
    },
  )

  const refused: Record<string, (tx: Tx) => Op<unknown>> = {
    'a confidence above 100': (tx) => tx.fact.insert(factRow({ id: 'x', confidence: 101 })),
    'a negative confidence': (tx) => tx.fact.insert(factRow({ id: 'x', confidence: -1 })),
    'an unknown branch': (tx) => tx.fact.insert(factRow({ id: 'x', branch: 'nowhere' })),
    'a used id': (tx) => tx.fact.insert(factRow({ id: 'a' })),
    'an unknown state': (tx) => saveFact(tx, 'a', { status: 'doubtful' as 'active' }),
    'an unknown verdict': (tx) => saveFact(tx, 'a', { verdict: 'perhaps' as 'durable' }),
    'a superseded fact without a successor': (tx) => saveFact(tx, 'a', { status: 'superseded' }),
    'an active fact with a successor': (tx) => saveFact(tx, 'a', { successorId: 'b' }),
    'a fact that is its own successor': (tx) => saveFact(tx, 'a', { status: 'superseded', successorId: 'a' }),
    'a superseded fact made active': (tx) => saveFact(tx, 'old', { status: 'active', successorId: null }),
  }

  proves(`invalid facts are refused: ${Object.keys(refused).join(', ')}`, async (ledger) => {
    await insertFacts(ledger, { id: 'a' }, { id: 'old' })
    await supersede(ledger, 'old', 'a')
    for (const wrong of Object.values(refused)) {
      await expect(write(ledger, wrong)).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
    }
    expect(await ledger.read((tx) => tx.fact.get('a'))).toEqual({ ...factRow({ id: 'a' }), seq: 1 })
    expect(await ledger.read((tx) => tx.fact.get('old'))).toMatchObject({ status: 'superseded' })
  })

  proves('facts are listed from the latest on, of one branch or several, by every filter', async (ledger) => {
    await insertBranches(ledger, 'side', 'other')
    await insertFacts(
      ledger,
      { id: 'a', taskId: 't', sessionId: 's', verdict: 'durable' },
      { id: 'b', branch: 'side', agentId: 'ann', disputed: true },
      { id: 'c', category: 'decision', agentId: 'ann', taskId: 't' },
      { id: 'd', branch: 'other' },
      { id: 'e', verdict: 'ephemeral' },
    )
    await supersede(ledger, 'c', 'a')
    const listed = (filter: Partial<FactFilter>, limit = 9, before = end) =>
      idsIn(ledger, (tx) => tx.fact.list({ branches: ['main', 'side', 'side', 'nowhere'], ...filter }, limit, before))
    expect(await listed({})).toEqual(['e', 'c', 'b', 'a'])
    expect(await listed({}, 2, 5)).toEqual(['c', 'b'])
    expect(await listed({ branches: ['other'] })).toEqual(['d'])
    expect(await listed({ branches: [] })).toEqual([])
    expect(await listed({ status: 'active' })).toEqual(['e', 'b', 'a'])
    expect(await listed({ status: 'superseded' })).toEqual(['c'])
    expect(await listed({ category: 'decision' })).toEqual(['c'])
    expect(await listed({ taskId: 't' })).toEqual(['c', 'a'])
    expect(await listed({ agentId: 'ann', status: 'active' })).toEqual(['b'])
    expect(await listed({ sessionId: 's' })).toEqual(['a'])
    expect(await listed({ verdict: 'durable' })).toEqual(['a'])
    expect(await listed({ disputed: true })).toEqual(['b'])
    expect(await listed({ disputed: false, verdict: 'ephemeral' })).toEqual(['e'])
  })

  proves(
    'active facts are read by age, page by page, without summaries, and an agent has one summary',
    async (ledger) => {
      await insertBranches(ledger, 'side')
      await insertFacts(
        ledger,
        { id: 'a' },
        { id: 'first summary', category: 'summary', agentId: 'ann' },
        { id: 'b' },
        { id: 'aside', branch: 'side' },
        { id: 'c' },
      )
      const active = (after: number, limit: number) => idsIn(ledger, (tx) => tx.fact.active('main', after, limit))
      const summaryOf = async (agent: string, branch = 'main') =>
        (await ledger.read((tx) => tx.fact.summaryOf(branch, agent)))?.id
      expect(await active(0, 2)).toEqual(['a', 'b'])
      expect(await active(3, 9)).toEqual(['c'])
      const counts = async (...branches: string[]) =>
        Object.fromEntries(await ledger.read((tx) => tx.fact.countActive(branches)))
      expect(await counts('side', 'main', 'main')).toEqual({ main: 3, side: 1 })
      expect(await summaryOf('ann')).toBe('first summary')
      await insertFacts(ledger, { id: 'second summary', category: 'summary', agentId: 'ann' })
      await supersede(ledger, 'first summary', 'second summary')
      await supersede(ledger, 'a', 'b')
      expect(await active(0, 9)).toEqual(['b', 'c'])
      expect(await counts('main', 'nowhere')).toEqual({ main: 2, nowhere: 0 })
      expect(await counts()).toEqual({})
      expect(await summaryOf('ann')).toBe('second summary')
      expect(await summaryOf('bob')).toBe(undefined)
      expect(await summaryOf('ann', 'side')).toBe(undefined)
    },
  )
}

const findings: Theme = ({ proves, expect }) => {
  const deploy = 'The deploy job flushes all caches before it restarts the workers'

  proves('candidates returns the facts that share words, with every similar one', async (ledger) => {
    await insertBranches(ledger, 'side')
    await insertFacts(
      ledger,
      { id: 'other', text: 'Ann knows why the build is slow on Mondays, or will say' },
      { id: 'same', text: deploy.toUpperCase() },
      { id: 'near', text: `${deploy} again` },
      { id: 'short', text: 'deploy' },
      { id: 'summary', text: deploy, category: 'summary' },
      { id: 'aside', text: deploy, branch: 'side' },
      { id: 'cjk', text: '部署任务会在重启之前清除缓存' },
    )
    const found = await candidates(ledger, deploy)
    expect(found.filter((id) => ['same', 'near'].includes(id))).toEqual(['same', 'near'])
    expect(found.filter((id) => ['short', 'summary', 'aside', 'cjk'].includes(id))).toEqual([])
    expect(await candidates(ledger, deploy, 0)).toEqual(['other', 'same', 'near', 'short'])
    expect(await candidates(ledger, deploy, 0.85, 'side')).toEqual(['aside'])
    expect(await candidates(ledger, '部署任务会在重启之前清除所有缓存', 0.7)).toEqual(['cjk'])
    expect(await candidates(ledger, '!')).toEqual([])
    expect(await candidates(ledger, deploy, 0.85, 'nowhere')).toEqual([])
    const [first] = await ledger.read((tx) => tx.fact.candidates('main', wordsOf(deploy), 0.85))
    expect(first).toEqual(await ledger.read((tx) => tx.fact.get('same')))
    await supersede(ledger, 'same', 'near')
    expect(await candidates(ledger, deploy)).toEqual(['near'])
  })

  proves(
    'sameSubject returns facts with the same subject, without summaries and facts without a subject',
    async (ledger) => {
      await insertBranches(ledger, 'side')
      const long = Array.from({ length: 400 }, (_, n) => `word${'x'.repeat(n % 7)}y`.repeat(n % 5)).join(' ')
      await insertFacts(
        ledger,
        { id: 'thirty', text: 'The timeout is 30s' },
        { id: 'sixty', text: 'Timeout: not 60s' },
        { id: 'nothing', text: '42' },
        { id: 'summary', text: 'The timeout', category: 'summary' },
        { id: 'aside', text: 'The timeout', branch: 'side' },
        { id: 'long', text: `${long} one` },
        { id: 'other long', text: `${long} other` },
      )
      const same = (text: string, branch = 'main') =>
        idsIn(ledger, (tx) => tx.fact.sameSubject(branch, subjectOf(text)))
      expect(await same('a timeout of 10s')).toEqual(['thirty', 'sixty'])
      expect(await same('a timeout of 10s', 'side')).toEqual(['aside'])
      expect(await same('7')).toEqual([])
      expect(await same(`one ${long}`)).toEqual(['long'])
      await supersede(ledger, 'thirty', 'sixty')
      expect(await same('timeout')).toEqual(['sixty'])
    },
  )

  proves(
    'uncompared and unmerged return facts by age until they are compared and merged in their present form',
    async (ledger) => {
      await insertBranches(ledger, 'side')
      await insertFacts(
        ledger,
        { id: 'a', comparedBy: 'm2', mergedTo: 'x', mergedConfidence: 70 },
        { id: 'b', comparedBy: 'm1', mergedTo: 'x', mergedConfidence: 60 },
        { id: 'c' },
        { id: 'summary', category: 'summary' },
        { id: 'd', comparedBy: 'm3', mergedTo: 'x', mergedConfidence: 70 },
        { id: 'aside', branch: 'side' },
      )
      const uncompared = (measure: string, limit = 9) =>
        idsIn(ledger, (tx) => tx.fact.uncompared('main', measure, limit))
      expect(await uncompared('m2')).toEqual(['b', 'c', 'd'])
      expect(await uncompared('m9')).toEqual(['a', 'b', 'c', 'd'])
      expect(await uncompared('m9', 2)).toEqual(['a', 'b'])
      const unmerged = (after = 0, limit = 9) => idsIn(ledger, (tx) => tx.fact.unmerged('main', after, limit))
      expect(await unmerged()).toEqual(['b', 'c'])
      expect(await unmerged(2)).toEqual(['c'])
      expect(await unmerged(0, 1)).toEqual(['b'])
      await write(ledger, (tx) => saveFact(tx, 'd', { confidence: 80 }))
      await write(ledger, (tx) => saveFact(tx, 'c', { comparedBy: 'm2', mergedTo: 'y', mergedConfidence: 70 }))
      expect(await unmerged()).toEqual(['b', 'd'])
      expect(await uncompared('m2')).toEqual(['b', 'd'])
      await supersede(ledger, 'b', 'a')
      expect(await unmerged()).toEqual(['d'])
      expect(await uncompared('m2')).toEqual(['d'])
    },
  )

  proves('search finds facts by stems of words without accents, and ranks rare words highest', async (ledger) => {
    await insertBranches(ledger, 'side', 'third')
    await insertFacts(
      ledger,
      { id: 'a', text: 'Running migrations locks the table' },
      { id: 'b', text: 'The table of contents' },
      { id: 'c', text: 'A café on the table, and naïve questions' },
      { id: 'd', text: 'हिन्दी में लिखा है' },
      { id: 'e', text: '修复登录' },
      { id: 'aside', text: 'The migration table', branch: 'side' },
      { id: 'third', text: 'The migration table', branch: 'third' },
      { id: 'summary', text: 'The migration table', category: 'summary' },
    )
    expect(await searched(ledger, 'migration')).toEqual(['a'])
    expect(await searched(ledger, 'TABLE run')).toEqual(['a', 'b', 'c'])
    expect(await searched(ledger, 'TABLE run', ['main'], 2)).toEqual(['a', 'b'])
    expect(await searched(ledger, 'cafe')).toEqual(['c'])
    expect(await searched(ledger, 'NAÏVE')).toEqual(['c'])
    expect(await searched(ledger, 'हिन्दी')).toEqual(['d'])
    expect(await searched(ledger, 'हिन')).toEqual([])
    expect(await searched(ledger, '登录')).toEqual(['e'])
    expect(await searched(ledger, 'migrate', ['side', 'main'])).toEqual(['aside', 'a'])
    expect(await searched(ledger, 'migrate', ['nowhere'])).toEqual([])
    expect(await searched(ledger, 'migrate', [])).toEqual([])
    const ranks = (await ledger.read((tx) => tx.fact.search(['main'], ['table', 'run'], 9))).map(({ rank }) => rank)
    // Of two texts with the same word, the shorter one ranks higher.
    expect([ranks[0]! > ranks[1]!, ranks[1]! > ranks[2]!, ranks[2]! > 0]).toEqual([true, true, true])
    await supersede(ledger, 'a', 'b')
    expect(await searched(ledger, 'migration')).toEqual([])
  })

  proves('search treats every query as words, without operators', async (ledger) => {
    await insertFacts(ledger, { id: 'a', text: 'and or not' }, { id: 'b', text: `quotes ${'long'.repeat(900)}` })
    for (const odd of [
      '"',
      "'",
      '*',
      'b1 : x',
      '(',
      'a"b',
      ':',
      '\\',
      '%',
      '^',
      '-',
      'NEAR(',
      '{',
      ' ',
      '\u0001',
      '',
    ]) {
      expect(await ledger.read((tx) => tx.fact.search(['main'], [odd], 9))).toEqual([])
    }
    expect(await searched(ledger, 'AND')).toEqual(['a'])
    expect(await searched(ledger, 'not* "or"')).toEqual(['a'])
    expect(await searched(ledger, 'long'.repeat(900))).toEqual(['b'])
    expect(await searched(ledger, 'long')).toEqual([])
    expect(await searched(ledger, Array.from({ length: 300 }, (_, n) => `word${n}`).join(' '))).toEqual([])
    expect(await candidates(ledger, `quotes ${'long'.repeat(900)}`)).toEqual(['b'])
  })

  proves('active facts have one vector for each model', async (ledger) => {
    await insertBranches(ledger, 'side')
    await insertFacts(ledger, { id: 'a' }, { id: 'b' }, { id: 'aside', branch: 'side' })
    await write(ledger, function* (tx) {
      for (const id of ['a', 'b', 'aside']) yield* tx.fact.keepVector(id, 'small', `AAAA${id}`)
      yield* tx.fact.keepVector('a', 'large', 'CCCC')
      yield* tx.fact.keepVector('a', 'small', 'BBBB')
      yield* tx.fact.keepVector('missing', 'small', 'DDDD')
    })
    const vectors = (model: string) => ledger.read((tx) => tx.fact.vectors('main', model))
    expect(await vectors('small')).toEqual([
      { factId: 'a', vector: 'BBBB' },
      { factId: 'b', vector: 'AAAAb' },
    ])
    expect(await vectors('large')).toEqual([{ factId: 'a', vector: 'CCCC' }])
    await supersede(ledger, 'a', 'b')
    expect(await vectors('small')).toEqual([{ factId: 'b', vector: 'AAAAb' }])
    expect(await vectors('large')).toEqual([])
  })
}
