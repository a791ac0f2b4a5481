// All edits of programs of three shapes, at each point of their journals and with each end (test/runs/edited-programs.ts).
import { expect, it } from 'vitest'
import { edits, ends, findingsOf, shapes } from '../../runs/edited-programs.ts'

it.each(Object.keys(shapes).flatMap((shape) => ends.map((end) => [shape, end] as const)))(
  'replay repeats no completed effect of a %s program without an error, wherever it is edited (%s)',
  async (shape, end) => {
    const found = await findingsOf(
      edits.filter((edit) => edit.shape === shape),
      end,
    )
    expect(found.silent).toEqual([])
    expect(found.refused).toBeGreaterThan(found.points / 10)
  },
  300_000,
)

it.each(ends)("replay refuses nothing with divergence: 'allow', and reports what is repeated (%s)", async (end) => {
  const found = await findingsOf(
    edits.filter((edit) => edit.shape === 'sequential'),
    end,
    'allow',
  )
  expect(found.silent).toEqual([])
  expect(found.refused).toBe(0)
  expect(found.reported).toBeGreaterThan(found.points / 10)
})
