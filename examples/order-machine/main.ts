// A service of orders: an engine whose tasks are machines, and its routes over HTTP.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createEngine } from 'errand'
import { createHttp, toNodeListener } from 'errand/http'
import { machine } from 'errand/machine'
import { z } from 'zod'
import { Bank } from './bank.ts'
import { orderMachine } from './order.ts'

const { values } = parseArgs({
  options: {
    ledger: { type: 'string', default: 'orders.db' },
    payments: { type: 'string', default: 'payments.jsonl' },
    port: { type: 'string', default: '0' },
    'bank-ms': { type: 'string', default: '100' },
  },
})
const port = z.coerce.number().int().min(0).max(65_535).parse(values.port)
const bankMs = z.coerce.number().int().min(0).parse(values['bank-ms'])
const token = z.string().min(32).parse(process.env['ORDERS_TOKEN'])

const bank = new Bank(values.payments, bankMs)
const order = orderMachine({
  charge: ({ id, total }) => bank.pay(`charge ${id}`, total),
  refund: ({ id, total }) => bank.pay(`refund ${id}`, -total),
  remind: async ({ mail }) => console.log(`a mail to ${mail}`),
})
/** May be repeated after a crash: the bank knows the order. */
const repeatable = { onInterrupt: 'rerun', retry: { maxAttempts: 5, backoffMs: 1_000 } } as const

const engine = await createEngine({
  ledger: values.ledger,
  executors: {
    order: machine(order, { calls: { charge: repeatable, refund: repeatable, remind: { onInterrupt: 'rerun' } } }),
  },
})
const http = createHttp(engine, { token })
const server = createServer(toNodeListener(http.fetch, console.error)).listen(port, '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

process.once('SIGTERM', () => void close())
process.once('SIGINT', () => void close())

/** Orders in progress go on at the next start. */
async function close(): Promise<void> {
  server.close()
  await http.close()
  await engine.close()
  server.closeAllConnections()
}
