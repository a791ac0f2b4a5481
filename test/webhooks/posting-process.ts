// An engine with a webhook in a process that may be killed at any time. It makes its tasks, and lets time pass until all deliveries have ended.
import { createEngine } from '../../src/engine/create-engine.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'

const [ledger, url, secret, tasks, startsAt] = process.argv.slice(2) as [string, string, string, string, string]
const clock = new SimulatedClock(Number(startsAt))
const engine = await createEngine({
  ledger,
  clock,
  leaseMs: 1_000,
  executors: { work: () => 'done' },
  webhooks: [{ url, secret, name: 'hook' }],
})
for (let number = 0; number < Number(tasks); number++) await engine.create({ executor: 'work', key: `task ${number}` })
const isOver = async (): Promise<boolean> => {
  const { tasks: deliveries } = await engine.list({ system: true, limit: 1_000 })
  return deliveries.length === Number(tasks) && deliveries.every(({ completedAt }) => completedAt !== null)
}
while (!(await isOver())) await clock.advance('1h')
await engine.close()
process.stdout.write('over\n')
