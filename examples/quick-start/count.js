import { setTimeout as delay } from 'node:timers/promises'
import { createEngine } from 'errand'

const count = async (task, run) => {
  for (let n = 1; n <= task.input.to; n++) {
    await run.call('step', { n }, async () => {
      console.log(`step ${n}`)
      await delay(500)
    })
  }
  return 'counted'
}
const engine = await createEngine({ ledger: 'count.db', executors: { count }, onInterrupt: 'rerun' })
const task = await engine.create({ executor: 'count', input: { to: 10 }, key: 'count to ten' })
console.log(await engine.result(task))
await engine.close()
