import { expect, it } from 'vitest'
import { parsePlanSource } from '../../../src/plans/plan-source.ts'

it('parsePlanSource parses a plan of 100,000 tasks', () => {
  const lines = Array.from({ length: 100_000 }, (_, n) => `  task-${n}: { run: "true" }`)
  const { value } = parsePlanSource(`tasks:\n${lines.join('\n')}\n`, 'plan.yaml')
  expect(Object.keys((value as { tasks: object }).tasks)).toHaveLength(100_000)
})
