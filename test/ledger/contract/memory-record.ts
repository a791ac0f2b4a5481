// The record of memory: runs of consolidation and the decisions of each, found from either fact of a decision.
import type { DecisionRecord } from '../../../src/entities/memory.ts'
import type { Reads } from '../../../src/ledger/ledger.ts'
import { branchRow, consolidationRow, decisionRow } from '../factories.ts'
import { idsIn, type Theme, write } from './contract-world.ts'

/** Greater than every `seq`. */
const end = Number.MAX_SAFE_INTEGER

export const memoryRecord: Theme = ({ describe, proves, expect }) => {
  describe('the record of memory', () => {
    proves(
      'S2-100 consolidations are listed from the latest on, by task, agent, session, type and either branch',
      async (ledger) => {
        await write(ledger, (tx) => tx.branch.insert(branchRow({ name: 'side' })))
        const merge = consolidationRow({
          id: 'd',
          type: 'merge',
          sourceBranch: 'side',
          sessionId: 's',
          agentId: 'ann',
          taskId: 'task-gone',
          trigger: 'task:complete',
          observationsProcessed: 1,
          factsCreated: 2,
          factsUpdated: 3,
          factsDeduplicated: 4,
          durable: 5,
          ephemeral: 6,
          merged: 7,
          rejected: 8,
          summary: `it's "so"`,
        })
        const seqs = await write(ledger, function* (tx) {
          const given: number[] = []
          for (const run of [
            consolidationRow({ id: 'a', sessionId: 's' }),
            consolidationRow({ id: 'b', type: 'task_checkpoint', taskId: 't', targetBranch: 'side' }),
            consolidationRow({ id: 'c', agentId: 'ann', at: 1 }),
            merge,
          ]) {
            given.push(yield* tx.consolidation.insert(run))
          }
          return given
        })
        expect(seqs).toEqual([1, 2, 3, 4])
        expect(await ledger.read((tx) => tx.consolidation.get('d'))).toEqual({ ...merge, seq: 4 })
        expect(await ledger.read((tx) => tx.consolidation.get('z'))).toBe(undefined)
        const listed = (filter: Parameters<Reads['consolidation']['list']>[0], limit = 9, before = end) =>
          idsIn(ledger, (tx) => tx.consolidation.list(filter, limit, before))
        expect(await listed({})).toEqual(['d', 'c', 'b', 'a'])
        expect(await listed({}, 2, 4)).toEqual(['c', 'b'])
        expect(await listed({ taskId: 't' })).toEqual(['b'])
        expect(await listed({ agentId: 'ann' })).toEqual(['d', 'c'])
        expect(await listed({ sessionId: 's' })).toEqual(['d', 'a'])
        expect(await listed({ type: 'session_end' })).toEqual(['c', 'a'])
        expect(await listed({ branch: 'side' })).toEqual(['d', 'b'])
        expect(await listed({ branch: 'side', type: 'merge' })).toEqual(['d'])
      },
    )

    proves('decisions are read by their fact and by their consolidation', async (ledger) => {
      const boosted: Omit<DecisionRecord, 'seq'> = decisionRow({
        consolidationId: 'r2',
        kind: 'boosted',
        factId: 'f',
        otherId: 'g',
        observationId: 'o',
        similarity: 17 / 19,
        before: 70,
        after: 80,
        note: `it's "so"`,
      })
      await write(ledger, function* (tx) {
        for (const id of ['r1', 'r2']) yield* tx.consolidation.insert(consolidationRow({ id }))
        yield* tx.consolidation.decide(decisionRow({ consolidationId: 'r1', factId: 'f' }))
        yield* tx.consolidation.decide(decisionRow({ consolidationId: 'r2', factId: 'g', similarity: 1 }))
        yield* tx.consolidation.decide(boosted)
      })
      const expected = [
        { ...decisionRow({ consolidationId: 'r1', factId: 'f' }), seq: 1 },
        { ...boosted, seq: 3 },
      ]
      expect(await ledger.read((tx) => tx.consolidation.decisionsOn('f', 9))).toEqual(expected.toReversed())
      expect(await ledger.read((tx) => tx.consolidation.decisionsOn('f', 1))).toEqual([expected[1]])
      expect(await ledger.read((tx) => tx.consolidation.decisionsOn('z', 9))).toEqual([])
      expect(await ledger.read((tx) => tx.consolidation.decisionsNaming('g', 9))).toEqual([{ ...boosted, seq: 3 }])
      expect(await ledger.read((tx) => tx.consolidation.decisionsNaming('f', 9))).toEqual([])
      const taken = async (run: string, limit: number, after: number) =>
        (await ledger.read((tx) => tx.consolidation.decisions(run, limit, after))).map(({ seq }) => seq)
      expect(await taken('r2', 9, 0)).toEqual([2, 3])
      expect(await taken('r2', 1, 0)).toEqual([2])
      expect(await taken('r2', 9, 2)).toEqual([3])
      for (const odd of [{ kind: 'guessed' as 'created' }, { consolidationId: 'missing' }]) {
        const refused = write(ledger, (tx) =>
          tx.consolidation.decide(decisionRow({ consolidationId: 'r1', factId: 'f', ...odd })),
        )
        await expect(refused).rejects.toMatchObject({ code: 'LEDGER_WRITE_FAILED' })
      }
    })

    proves('decisionsNaming returns the latest decisions about other facts that name a fact', async (ledger) => {
      await write(ledger, function* (tx) {
        yield* tx.consolidation.insert(consolidationRow({ id: 'r' }))
        for (const [factId, otherId] of [
          ['a', 'winner'],
          ['winner', 'a'],
          ['b', 'winner'],
          ['c', 'other'],
          ['a', 'winner'],
        ] as const) {
          yield* tx.consolidation.decide(decisionRow({ consolidationId: 'r', kind: 'superseded', factId, otherId }))
        }
      })
      const naming = async (fact: string, limit = 9) =>
        (await ledger.read((tx) => tx.consolidation.decisionsNaming(fact, limit))).map(({ seq, factId }) => [
          seq,
          factId,
        ])
      expect(await naming('winner')).toEqual([
        [5, 'a'],
        [3, 'b'],
        [1, 'a'],
      ])
      expect(await naming('winner', 2)).toEqual([
        [5, 'a'],
        [3, 'b'],
      ])
      expect(await naming('a')).toEqual([[2, 'winner']])
      expect(await naming('missing')).toEqual([])
    })
  })
}
