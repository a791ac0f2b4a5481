// The machine of a task as `errand show` prints it.
import { expect, it } from 'vitest'
import type { TaskMachine } from '../../../src/entities/machine-view.ts'
import { machineLines } from '../../../src/surfaces/terminal/machine-lines.ts'

const machine: TaskMachine = {
  id: 'order',
  value: { paid: 'packing' },
  context: {},
  accepts: ['SHIP', 'REFUND'],
  next: { event: 'xstate.after.1000.order.paid', dueAt: 1_000 },
  step: 7,
  chart: null,
  path: [0, 1, 2, 3, 4, 5].map((n) => ({ event: `E${n}`, value: `s${n}`, at: n, seq: n + 1 })),
}

it('errand show prints the state of a machine, what would move it, and its last five moves', () => {
  expect(machineLines(machine)).toEqual([
    'machine order',
    '  state    paid.packing (step 7)',
    '  accepts  SHIP, REFUND',
    '  next     xstate.after.1000.order.paid at 1970-01-01T00:00:01.000Z',
    '',
    '  event  state  at',
    ...[1, 2, 3, 4, 5].map((n) => `  E${n}     s${n}     1970-01-01T00:00:00.00${n}Z`),
  ])
})

it('errand show prints names of events without control characters, and no timer where there is none', () => {
  const path = [{ event: 'A\u001b[31m', value: 'x\ny', at: 0, seq: 1 }]
  const lines = machineLines({ ...machine, id: null, accepts: [], next: null, path })
  expect(lines.slice(0, 4)).toEqual(['machine', '  state    paid.packing (step 7)', '  accepts  no event', ''])
  expect(lines.join('')).not.toContain('\u001b')
  expect(lines).toHaveLength(6)
})
