// Parses a plan from a text, as if its file were in /plans.
import { dirname } from 'node:path'
import { commandLineExecutors, parsePlan } from '../../../src/plans/parse-plan.ts'
import type { Plan } from '../../../src/plans/plan.ts'
import { parsePlanSource } from '../../../src/plans/plan-source.ts'

export function planOf(text: string, file = '/plans/plan.yaml'): Plan {
  return parsePlan(parsePlanSource(text, 'plan.yaml'), { file, folder: dirname(file), executors: commandLineExecutors })
}
