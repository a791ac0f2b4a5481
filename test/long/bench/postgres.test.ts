// The benchmark on a PostgreSQL server measures, with samples so short that their figures mean nothing. DBOS is not installed for it.
import { describe, expect, it } from 'vitest'
import { compare, runRounds } from '../../../bench/postgres/rounds.ts'
import { type Order, rows, samplesOf } from '../../../bench/postgres/sample.ts'
import { startRelay } from '../../../bench/postgres/take.ts'
import { type TestServer, testServer } from '../../postgres/server.ts'

const server = (await testServer()) as TestServer
const samples = samplesOf(Object.values(rows))
/** What the samples of the rows do, in as few processes. */
const orders: Record<string, Order> = {
  'arriving, distant': { program: 'errand', lanes: 4, processes: 2, perSecond: 100, isDistant: true },
  calls: { program: 'errand', lanes: 2, calls: 3 },
  agents: { program: 'errand', lanes: 2, agentSteps: 3 },
}

describe.skipIf(server === undefined)('the benchmark on a PostgreSQL server', () => {
  it('a round measures all figures of errand', async () => {
    const relay = await startRelay(server.url, 1)
    const site = { server, relay, warmSeconds: 0.05, seconds: 0.1 }
    const found = await runRounds(orders, site, 1, { before: async () => {}, say: () => {} })
    relay.stop()
    expect(Object.keys(found)).toEqual(Object.keys(orders))
    for (const [figures] of Object.values(found)) {
      for (const figure of ['rate', 'nodeCpu', 'p50', 'p99', 'statements', 'roundTrips'] as const) {
        expect(figures?.[figure]).toBeGreaterThan(0)
      }
    }
    expect(found['arriving, distant']?.[0]?.p50).toBeGreaterThan(4)
  })
})

describe('the comparisons of the benchmark on a PostgreSQL server', () => {
  const comparisons = Object.values(rows).flatMap((row) => row.comparisons)

  it('comparisons name samples', () => {
    const named = comparisons.flatMap(({ of, beside }) => (beside === undefined ? [of] : [of, beside]))
    expect(Object.keys(samples)).toEqual(expect.arrayContaining(named))
  })

  it('a comparison divides figures of the same round, and is met by the median', () => {
    const figures = (rate: number) => ({ rate, nodeCpu: 1 })
    const found = { a: [4, 9, 20].map(figures), b: [2, 3, 4].map(figures) }
    const comparison = { title: 'rate', figure: 'rate' as const, of: 'a', beside: 'b', unit: 'times' }
    const [met, missed, without] = compare(
      [{ ...comparison, atLeast: 3 }, { ...comparison, atMost: 2 }, comparison],
      found,
    )
    expect(met).toMatchObject({ isMet: true, spread: { all: [2, 3, 5] } })
    expect(missed).toMatchObject({ isMet: false })
    expect(without).not.toHaveProperty('isMet')
  })

  it('a figure that could not be measured is not compared', () => {
    const comparison = { title: 'CPU time', figure: 'cpu' as const, of: 'a', unit: 'ms' }
    expect(compare([comparison], { a: [{ rate: 1, nodeCpu: 1 }] })).toEqual([])
  })
})
