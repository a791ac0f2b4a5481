// Plans for tests, from text, as if they lay in /plans.
import { parsePlan } from '../../../src/surfaces/cli/parse-plan.ts'
import type { Plan } from '../../../src/surfaces/cli/plan.ts'
import { parsePlanSource } from '../../../src/surfaces/cli/plan-source.ts'

export function planOf(text: string, file = '/plans/plan.yaml'): Plan {
  return parsePlan(parsePlanSource(text, 'plan.yaml'), file)
}
