// The service in examples/order-machine as a process: orders that are paid, approved and canceled, with kill -9 in between.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/engine/create-engine.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'

const root = join(import.meta.dirname, '../../..')
const token = 'a-token-of-the-test-with-32-characters'

/** A folder for the ledger and the file of the bank. */
function shop() {
  const folder = mkdtempSync(join(tmpdir(), 'errand-orders-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const payments = join(folder, 'payments.jsonl')
  return {
    files: ['--ledger', join(folder, 'orders.db'), '--payments', payments],
    ledger: join(folder, 'orders.db'),
    payments: () =>
      readFileSync(payments, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
  }
}

async function start(args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'examples/order-machine/main.ts'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ORDERS_TOKEN: token },
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const printed = async (beginning: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`It ended without "${beginning}".`)
      if (value.startsWith(beginning)) return value.slice(beginning.length)
    }
  }
  const url = await printed('Listening on ')
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    return exited
  }
  return { url, printed, end }
}

async function post(url: string, body: object): Promise<{ taskId: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  expect([response.ok, url]).toEqual([true, url])
  return (await response.json()) as { taskId: string }
}

const place = (url: string, id: string, total: number) =>
  post(`${url}/tasks`, { executor: 'order', key: id, input: { id, total, mail: 'ann@example.org' } })
const send = (url: string, taskId: string, name: string) => post(`${url}/tasks/${taskId}/signals`, { name })

/** Sees the ledger and runs nothing. */
async function witnessOf(ledger: string): Promise<Engine> {
  const engine = await createEngine({ ledger, work: false })
  onTestFinished(() => engine.close())
  return engine
}

/** Resolves when the machine of a task is in this state. */
async function inState(engine: Engine, taskId: string, state: string): Promise<void> {
  for await (const item of engine.stream(taskId)) if (item.type === 'machine' && item.value === state) return
}

describe('the example of orders as machines', () => {
  it('an order whose payment is killed is paid once, and is shipped after the next start', async () => {
    const { files, ledger, payments } = shop()
    const first = await start([...files, '--bank-ms', '600000'])
    const { taskId } = await place(first.url, 'o-1', 80)
    await send(first.url, taskId, 'PAY')
    await first.printed('paying charge o-1')
    await first.end('SIGKILL')

    const second = await start([...files, '--bank-ms', '0'])
    const witness = await witnessOf(ledger)
    await inState(witness, taskId, 'packing')
    await second.end('SIGKILL')
    const third = await start(files)
    await send(third.url, taskId, 'SHIPPED')
    expect(await witness.result(taskId)).toEqual({ receipt: 'charge o-1' })
    expect(payments()).toEqual([{ key: 'charge o-1', euros: 80 }])
    expect(await third.end('SIGTERM')).toBe(0)
  })

  it('a large order asks a person, also after a kill, and a cancellation refunds it', async () => {
    const { files, ledger, payments } = shop()
    const first = await start(files)
    const { taskId } = await place(first.url, 'o-2', 5_000)
    await send(first.url, taskId, 'PAY')
    const witness = await witnessOf(ledger)
    await inState(witness, taskId, 'approving')
    await first.end('SIGKILL')

    const second = await start([...files, '--bank-ms', '0'])
    await witness.answer(taskId, true)
    await inState(witness, taskId, 'packing')
    await send(second.url, taskId, 'CANCEL')
    expect(await witness.result(taskId)).toEqual({ receipt: 'refund o-2' })
    expect(payments()).toEqual([
      { key: 'charge o-2', euros: 5_000 },
      { key: 'refund o-2', euros: -5_000 },
    ])
    expect(await second.end('SIGTERM')).toBe(0)
  })
})
