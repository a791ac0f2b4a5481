// An order is tested with its week of time, and with a crash at every write.
import { machine } from 'errand/machine'
import { createTestEngine, expectDurable } from 'errand/testing'
import { expect, it } from 'vitest'
import { type OrderInput, orderMachine } from './order.ts'

const order: OrderInput = { id: '7', total: 30, mail: 'ada@example.org' }
const reminded: string[] = []
/** Payments by the order: like a bank, it makes each once. */
const paid = new Map<string, number>()
const executor = machine(
  orderMachine({
    charge: async ({ id, total }) => {
      paid.set(id, total)
      return { receipt: `receipt ${id}` }
    },
    refund: async ({ id }) => {
      paid.delete(id)
      return { receipt: `refund ${id}` }
    },
    remind: async ({ mail }) => void reminded.push(mail),
  }),
  { onInterrupt: 'rerun' },
)

it('reminds a customer after a day, and is canceled after a week', async () => {
  reminded.length = 0
  await using test = await createTestEngine({ executors: { order: executor } })
  const task = await test.engine.create({ executor: 'order', input: order })
  await test.advance('1d')
  expect(reminded).toEqual(['ada@example.org'])
  await test.crash()
  await test.advance('6d')
  expect(await test.engine.machine(task)).toMatchObject({ value: { cart: 'left' } })
  expect(await test.result(task)).toEqual({ receipt: null })
  expect(reminded).toHaveLength(1)
})

it('charges an order once, wherever it crashes', async () => {
  await expectDurable(executor, {
    input: order,
    setup: () => paid.clear(),
    effects: () => [...paid],
    play: async (test, task) => {
      await test.signal(task, 'PAY', { type: 'PAY' })
      await test.signal(task, 'SHIPPED', { type: 'SHIPPED' })
    },
  })
})
