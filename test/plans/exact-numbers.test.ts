// Integers in plan files that a number cannot hold.
import { expect, it } from 'vitest'
import { parsePlanSource } from '../../src/plans/plan-source.ts'

it('a plan with an integer that a number cannot hold is refused with its place, and any other number is kept', () => {
  const plan = (number: string) => `tasks:\n  one:\n    run: echo\n    metadata: { n: ${number} }\n`
  for (const lossy of ['9007199254740993', '-12345678901234567890', '+9007199254740993']) {
    expect(() => parsePlanSource(plan(lossy), 'plan.yaml')).toThrow(
      expect.objectContaining({
        code: 'INVALID_PLAN',
        message: expect.stringMatching(/^plan\.yaml:4:\d+: The number .*text, in quotes/),
      }),
    )
  }
  for (const exact of ['9007199254740992', '1.5', '-7', '0x1f', '1e3', '"9007199254740993"'])
    parsePlanSource(plan(exact), 'plan.yaml')
})
