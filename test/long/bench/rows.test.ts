// Every row of the benchmarks runs, with sizes so small that its figures mean nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runRow } from '../../../bench/runner/run-row.ts'
import { sampleHere } from '../../../bench/runner/sample.ts'
import { rows } from '../../../bench/suite.ts'

describe('benchmarks', () => {
  it.each(rows.map((row) => [row.name, row] as const))('the row %s measures all its figures', async (_name, row) => {
    const folder = mkdtempSync(join(tmpdir(), 'errand-bench-test-'))
    try {
      const options = { size: 'tiny' as const, peers: false, folder, isFirst: true, patienceMs: 0, say: () => {} }
      const { cases } = await runRow(row, { ...options, take: sampleHere })
      expect(cases.map((each) => each.case)).toEqual(row.cases(row.sizes.tiny).map(({ name }) => name))
      for (const { sides } of cases) {
        for (const { figures } of sides) {
          for (const figure of Object.keys(row.figures)) expect(figures[figure]?.median).toBeTypeOf('number')
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it.each(rows.map((row) => [row.name, row] as const))(
    'the goals of the row %s name its figures and cases',
    (_name, row) => {
      const cases = (['full', 'quick'] as const).flatMap((size) => row.cases(row.sizes[size]).map(({ name }) => name))
      for (const goal of row.goals ?? []) {
        expect(Object.keys(row.figures)).toContain(goal.figure)
        expect(cases).toContain(goal.case)
        if (goal.beside?.case !== undefined) expect(cases).toContain(goal.beside.case)
      }
    },
  )
})
