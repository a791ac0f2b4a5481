// What the suite makes of the figures of a row: ratios, goals, the page and its chart.
import { describe, expect, it } from 'vitest'
import { peers } from '../../../bench/peers/peers.ts'
import { chartOf } from '../../../bench/runner/chart.ts'
import { withFigures } from '../../../bench/runner/document.ts'
import { tableOf } from '../../../bench/runner/print.ts'
import { type AnyRow, defineRow, type Measure, sizeOf } from '../../../bench/runner/row.ts'
import { type RunOptions, runRow } from '../../../bench/runner/run-row.ts'
import { quantile } from '../../../bench/runner/statistics.ts'
import { rows } from '../../../bench/suite.ts'

const never: Measure<object> = () => Promise.reject(new Error('it is not called'))

const row: AnyRow = defineRow<{ tasks: number }, object>({
  name: 'throughput',
  title: 'Tasks',
  method: 'They are run.',
  figures: { rate: { label: 'tasks', unit: '/s', better: 'more' } },
  sizes: { full: { tasks: 3 }, quick: { tasks: 2 }, tiny: { tasks: 1 } },
  rounds: { full: 3, quick: 1, tiny: 1 },
  cases: () => [{ name: 'concurrency 10', given: {} }],
  sides: { errand: { durability: 'FULL', measure: never }, floor: { durability: 'FULL', measure: never } },
  goals: [
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', atLeast: 0.5 },
    { figure: 'rate', case: 'concurrency 10', as: 'ratio', beside: { side: 'plainjob FULL' }, atLeast: 3 },
    { figure: 'rate', case: 'concurrency 10', as: 'value', atLeast: 1_000 },
  ],
})

/** Each side takes the next of its figures; the order of the samples is kept. */
async function run(figures: Record<string, number[]>, options: Partial<RunOptions> = {}) {
  const order: string[] = []
  const result = await runRow(row, {
    size: 'full',
    peers: false,
    folder: '/nowhere',
    isFirst: true,
    patienceMs: 0,
    say: () => {},
    take: async ({ side }) => {
      order.push(side)
      const rate = figures[side]?.shift()
      if (rate === undefined) throw new Error(`${side} has no figure`)
      return { figures: { rate }, notes: [] }
    },
    ...options,
  })
  return { order, result }
}

describe('a run of a row', () => {
  it('the order of the sides is reversed in every other round of a benchmark', async () => {
    const { order } = await run({ errand: [1, 2, 3], floor: [2, 2, 2] })
    expect(order).toEqual(['errand', 'floor', 'floor', 'errand', 'errand', 'floor'])
  })

  it('the ratio of a benchmark is the median of the ratios within rounds', async () => {
    const { result } = await run({ errand: [100, 400, 900], floor: [200, 500, 1_000] })
    const floor = result.cases[0]?.sides.find(({ side }) => side === 'floor')
    expect(floor?.ratios['rate']).toEqual({ median: 0.8, least: 0.5, most: 0.9, all: [0.5, 0.8, 0.9] })
  })

  it('a goal of a benchmark is judged where its side took part', async () => {
    const { result } = await run({ errand: [100, 400, 900], floor: [200, 500, 1_000] })
    expect(result.goals.map(({ value, isMet }) => [value, isMet])).toEqual([
      [0.8, true],
      [400, false],
    ])
  })

  it('another checkout takes part in a benchmark as the side base', async () => {
    const { order, result } = await run({ errand: [4], base: [2], floor: [8] }, { base: '/elsewhere', rounds: 1 })
    expect(order).toEqual(['errand', 'base', 'floor'])
    expect(result.cases[0]?.sides[1]).toMatchObject({
      side: 'base',
      durability: 'FULL',
      ratios: { rate: { median: 2 } },
    })
  })

  it('a benchmark fails with a side of ours, and goes on without a peer that fails', async () => {
    await expect(run({ errand: [1, 2, 3], floor: [] })).rejects.toThrow('floor has no figure')
    const figures = { errand: [1, 2, 3], floor: [1, 2, 3], 'plainjob FULL': [1, 2, 3] }
    const { result } = await run(figures, { peers: true })
    const mastra = result.cases[0]?.sides.find(({ side }) => side === 'Mastra')
    expect(mastra).toMatchObject({ figures: {}, failure: 'Mastra has no figure' })
    expect(tableOf(row, result)).toMatch(/Mastra +NORMAL +failed/)
  })
})

describe('the page of the benchmarks', () => {
  it('the page of the benchmarks names what was missed and which peer is better', async () => {
    const figures = { errand: [100, 100, 100], floor: [1_000, 1_000, 1_000], 'plainjob FULL': [150, 150, 150] }
    const { result } = await run(figures, { peers: true })
    const page = withFigures('# Title\n<!-- figures -->\nold\n<!-- /figures -->\nend\n', [{ row, result }])
    expect(page).toMatch(/^# Title\n<!-- figures -->\n/)
    expect(page).toMatch(/<!-- \/figures -->\nend\n$/)
    expect(page).not.toContain('old')
    expect(page).toContain('| concurrency 10 | **errand** | FULL | 100/s |  |')
    expect(page).toContain('- Tasks, concurrency 10: plainjob FULL is 1.5 times better')
    expect(page).toContain('tasks, concurrency 10 as a multiple of floor: 0.1 times (goal: at least 0.5 times)')
  })

  it('the chart of the benchmarks has a bar for each side', async () => {
    const { result } = await run({ errand: [100, 100, 100], floor: [1_000, 1_000, 1_000] })
    const chart = chartOf([{ row, result }])
    expect(chart.match(/<rect class="\w+"/g)).toEqual(['<rect class="floor"', '<rect class="ours"'])
    expect(chart).toContain('1,000/s')
  })
})

describe('the suite', () => {
  it('the rows of the benchmarks have names of their own, and peers take part in rows and cases that there are', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    for (const peer of peers) {
      for (const [name, sides] of Object.entries(peer.rows)) {
        const found = rows.find((each) => each.name === name) as AnyRow
        const cases = found.cases(found.sizes.full).map((each) => each.name)
        for (const side of Object.values(sides)) expect(cases).toEqual(expect.arrayContaining([...(side.cases ?? [])]))
      }
    }
  })

  it('the environment changes the sizes of a benchmark', () => {
    expect(sizeOf(row, 'full', { BENCH_TASKS: '7' })).toEqual({ tasks: 7 })
    const followers = rows.find(({ name }) => name === 'followers') as AnyRow
    expect(sizeOf(followers, 'tiny', { BENCH_FOLLOWERS_OF_TASK: '9' })).toMatchObject({ followersOfTask: 9 })
    const families = rows.find(({ name }) => name === 'families') as AnyRow
    expect(sizeOf(families, 'tiny', { BENCH_CHILDREN: '1,2' })).toEqual({ children: [1, 2] })
  })

  it('a quantile of a benchmark is one of its values', () => {
    expect(quantile([5, 1, 3], 0.5)).toBe(3)
    expect(quantile([5, 1, 3], 1)).toBe(5)
    expect(() => quantile([], 0.5)).toThrow('no values')
  })
})
