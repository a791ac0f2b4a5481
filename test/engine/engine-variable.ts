// A process whose executors use the variable of their engine. `dies`: it works until it is killed; `ends`: it reports how its tasks have ended.
import { createEngine } from '../../src/index.ts'

const [ledger = '', mode] = process.argv.slice(2)

async function report(): Promise<number> {
  const { total } = await engine.list({ limit: 1 })
  if (mode === 'dies' && begun++ === 0) process.send?.('working')
  if (mode === 'dies') await new Promise(() => {})
  return total
}
let begun = 0

const engine = await createEngine({ ledger, executors: { report }, onInterrupt: 'rerun', maxConcurrent: 8 })
await engine.create(Array.from({ length: 40 }, (_, n) => ({ executor: 'report' as const, key: `task ${n}` })))
await engine.idle()
const total = async (status: 'completed' | 'failed') => (await engine.list({ status, limit: 1 })).total
process.send?.({ completed: await total('completed'), failed: await total('failed') })
await engine.close()
